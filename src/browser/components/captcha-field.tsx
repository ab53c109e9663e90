import type { VNode } from 'preact';
import type { Translations } from '../i18n/translations.ts';

/** What the field shows of a CAPTCHA. */
interface CaptchaFieldContent {
  readonly widget: { readonly siteKey: string; readonly elementClass: string };
  readonly serviceName: string;
  readonly imprint: string | undefined;
}

/** The CAPTCHA of a form. The service's script renders it, so nothing can be solved without scripts. */
export function CaptchaField({
  translations,
  captcha,
}: {
  translations: Translations;
  captcha: CaptchaFieldContent;
}): VNode {
  const { widget, serviceName, imprint } = captcha;
  return (
    <div class="captcha">
      <div class={`captcha-widget ${widget.elementClass}`} data-sitekey={widget.siteKey} />
      <noscript>
        <p class="notice notice-warning">{translations.t('captcha.no_script')}</p>
      </noscript>
      <p class="notice notice-warning" role="status" hidden data-captcha-missing>
        {translations.t('captcha.not_loaded')}
      </p>
      <p class="hint">{translations.t('captcha.help', { service: serviceName })}</p>
      {imprint !== undefined && (
        <p class="hint" dir="auto">
          {imprint}
        </p>
      )}
    </div>
  );
}
