import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useTexts } from '../../i18n/translations.ts';
import type { Drawing } from './drawing.ts';

/** A line over time. Its code is loaded when the first plot is shown. The same numbers must be in a table beside it. */
export function Plot({ label, points, step }: { label: string } & Pick<Drawing, 'points' | 'step'>): VNode {
  const { language } = useTexts();
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let stop: (() => void) | undefined;
    let isGone = false;
    // Without the plot, for example after an upgrade of the service, the table remains.
    void import('./draw.ts').then(
      ({ draw }) => {
        if (!isGone && ref.current !== null) stop = draw(ref.current, { points, step, language });
      },
      () => undefined,
    );
    return () => {
      isGone = true;
      stop?.();
    };
  }, [points, step, language]);
  // Time runs from left to right in every language, as the drawing library does it.
  return <div ref={ref} class="plot" role="img" aria-label={label} dir="ltr" />;
}
