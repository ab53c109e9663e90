import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useConfig } from '../frame/config-context.ts';
import { useTranslations } from '../i18n/translations.ts';

let shownUrl: string | undefined;

/**
 * The `h1` and document title of a page. After a navigation, focus moves to it, so that screen readers announce the
 * page. The browser announces the first page.
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
