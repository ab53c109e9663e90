import type { VNode } from 'preact';
import { Button } from '../../components/button.tsx';
import { useAnnounce } from '../frame/live.tsx';
import { useTexts } from '../i18n/translations.ts';

/** Copies a value. `name`: what it is, for screen readers and the message. */
export function CopyButton({ name, value }: { name: string; value: string }): VNode {
  const { t } = useTexts();
  const announce = useAnnounce();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      announce(t('admin.copy.done', { name }));
    } catch {
      // Without https, or without the permission.
      announce(t('admin.copy.failed'));
    }
  };
  return (
    <Button kind="quiet" label={t('admin.copy.label', { name })} onClick={() => void copy()}>
      {t('admin.copy.action')}
    </Button>
  );
}

/** A value to enter elsewhere, with a button that copies it. */
export function CopyValue({ name, value }: { name: string; value: string }): VNode {
  return (
    <span class="copy-value">
      <code dir="ltr">{value}</code>
      <CopyButton name={name} value={value} />
    </span>
  );
}
