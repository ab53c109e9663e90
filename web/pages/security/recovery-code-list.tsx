import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { Button } from '../../components/button.tsx';
import { CheckField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';

const SAVED = 'codes_saved';

/** Recovery codes, shown only once: ways to save them, and a checkbox that is required to continue. */
export function RecoveryCodeList({
  codes,
  username,
  onSaved,
}: {
  codes: readonly string[];
  /** Username for the downloaded file. */
  username: string;
  onSaved: () => void;
}): VNode {
  const { t } = useTranslations();
  const { serviceName } = useConfig();
  const [isSaved, setSaved] = useState(false);
  const [isRefused, setRefused] = useState(false);
  const [copied, setCopied] = useState<AreaKey | undefined>();
  const file = [t('account.codes.file_heading', { username, service: serviceName }), '', ...codes, ''].join('\r\n');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(codes.join('\n'));
      setCopied('account.codes.copied');
    } catch {
      setCopied('account.codes.not_copied');
    }
  };
  const finish = async () => {
    setRefused(!isSaved);
    if (isSaved) onSaved();
    else document.getElementById(SAVED)?.focus();
  };
  return (
    <>
      <p>{t('account.codes.text')}</p>
      <ul class="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div class="row">
        {/* Browsers have no clipboard API on pages without TLS. */}
        {'clipboard' in navigator && (
          <Button kind="secondary" onClick={() => void copy()}>
            {t('account.codes.copy')}
          </Button>
        )}
        <a
          class="button button-secondary"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(file)}`}
          download="recovery-codes.txt"
        >
          {t('account.codes.download')}
        </a>
      </div>
      <p role="status">{copied !== undefined && t(copied)}</p>
      <Form isPending={false} onSubmit={finish}>
        {isRefused && (
          <div role="alert">
            <Notice kind="danger">{t('account.codes.saved_required')}</Notice>
          </div>
        )}
        <CheckField
          name={SAVED}
          label={t('account.codes.saved')}
          isChecked={isSaved}
          onChange={(isChecked) => {
            setSaved(isChecked);
            setRefused(false);
          }}
        />
        <Button>{t('account.codes.done')}</Button>
      </Form>
    </>
  );
}
