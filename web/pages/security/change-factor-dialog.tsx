import type { TypedDocumentNode } from '@urql/core';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';

type NoVariables = { readonly [name: string]: never };

const NONE = {};

/** Confirms a change of second factors. */
export function ChangeFactorDialog<Data>({
  mutation,
  texts,
  refusalOf,
  onDone,
  onClose,
}: {
  mutation: TypedDocumentNode<Data, NoVariables>;
  texts: { readonly title: AreaKey; readonly text: AreaKey; readonly button: AreaKey };
  /** Returns the error message for a result, or `done`. */
  refusalOf: (response: Data) => AreaKey | 'done';
  onDone: (response: Data) => void;
  onClose: () => void;
}): VNode {
  const { t } = useTranslations();
  const { run, isPending, problem } = useAction(mutation);
  const [refusal, setRefusal] = useState<AreaKey | undefined>();
  const confirm = async () => {
    setRefusal(undefined);
    const response = await run(NONE);
    if (response === undefined) return;
    const result = refusalOf(response);
    if (result !== 'done') return setRefusal(result);
    onDone(response);
    onClose();
  };
  return (
    <Dialog title={t(texts.title)} isPending={isPending} onClose={onClose}>
      <p>{t(texts.text)}</p>
      <ProblemNotice problem={problem} />
      {refusal !== undefined && (
        <div role="alert">
          <Notice kind="danger">{t(refusal)}</Notice>
        </div>
      )}
      <DialogButtons isPending={isPending} onClose={onClose}>
        <Button kind="danger" isPending={isPending} onClick={() => void confirm()}>
          {t(texts.button)}
        </Button>
      </DialogButtons>
    </Dialog>
  );
}
