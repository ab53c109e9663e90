import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useConfig } from '../frame/config-context.ts';
import { useTexts } from '../i18n/translations.ts';

let shownPath: string | undefined;

/**
 * The `h1` and document title of a page. After a navigation to another path, focus moves to it, so that screen readers
 * announce the page. Other filters of a list leave the focus where it is.
 */
export function PageTitle({ title, children }: { title: string; children?: ComponentChildren }): VNode {
  const { serviceName } = useConfig();
  const { t } = useTexts();
  const { path } = useLocation();
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = t('page.title', { step: `${title} – ${t('admin.title')}`, service: serviceName });
  }, [title, serviceName, t]);
  useEffect(() => {
    if (shownPath !== undefined && shownPath !== path) ref.current?.focus({ preventScroll: true });
    shownPath = path;
  }, [path]);
  return (
    <div class="page-heading">
      <h1 ref={ref} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  );
}
