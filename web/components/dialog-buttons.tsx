import type { ComponentChildren, VNode } from 'preact';
import { useTranslations } from '../i18n/translations.ts';
import { Button } from './button.tsx';

/**
 * The buttons of a dialog: submit and cancel.
 * @param isOver show only the button that closes the dialog
 */
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
