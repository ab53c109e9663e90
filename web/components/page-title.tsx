import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useConfig } from '../frame/config-context.ts';
import { useTranslations } from '../i18n/translations.ts';

let shownUrl: string | undefined;

/**
 * The page's one `h1`, and the title of the document. On a new page focus goes there, so that readers of the screen
 * hear where they are; not on the first one, which the browser announces.
 */
export function PageTitle({ title, children }: { title: string; children?: ComponentChildren }): VNode {
  const { serviceName } = useConfig();
  const { t } = useTranslations();
  const { url } = useLocation();
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = t('page.title', { step: title, service: serviceName });
  }, [title, serviceName, t]);
  useEffect(() => {
    if (shownUrl !== undefined && shownUrl !== url) ref.current?.focus({ preventScroll: true });
    shownUrl = url;
  }, [url]);
  return (
    <div class="page-heading">
      <h1 ref={ref} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  );
}
