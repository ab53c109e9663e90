import type { ComponentChildren, VNode } from 'preact';
import { useTranslations } from '../i18n/translations.ts';
import { Button } from './button.tsx';

/** The end of a dialog: what it does, and the way out. @param isOver only the way out is left */
export function DialogButtons({
  isPending = false,
  isOver = false,
  onClose,
  children,
}: {
  isPending?: boolean;
  isOver?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}): VNode {
  const { t } = useTranslations();
  return (
    <div class="dialog-buttons">
      {!isOver && children}
      <Button kind="secondary" isDisabled={isPending} onClick={onClose}>
        {t(isOver ? 'account.close' : 'account.cancel')}
      </Button>
    </div>
  );
}
