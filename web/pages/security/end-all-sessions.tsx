import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { CheckField } from '../../components/fields.tsx';
import { useFocusAfterRemoval } from '../../components/focus-after-removal.ts';
import { Form } from '../../components/form.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';
import { restoredValues } from '../../reauthentication/stored-form.ts';
import { EndAllSessions as EndAllSessionsMutation } from './security.generated.ts';

const FORM = 'end-all-sessions';

/** A button that signs out everywhere, if the user is signed in elsewhere. */
export function EndAllSessions({
  browsers,
  applications,
}: {
  /** Number of signed-in browsers, including this one. */
  browsers: number;
  applications: number;
}): VNode {
  const { t } = useTranslations();
  const [kept] = useState(() => restoredValues(FORM));
  const [isAsking, setAsking] = useState(kept !== undefined);
  const [ended, setEnded] = useState<number | undefined>();
  const elsewhere = Math.max(0, browsers - 1) + applications;
  useFocusAfterRemoval(Math.min(1, elsewhere));
  return (
    <>
      {ended !== undefined && (
        <div role="status">
          <Notice kind="success">{t('account.end_all.done', { count: ended })}</Notice>
        </div>
      )}
      {elsewhere === 0 ? (
        <p>{t('account.end_all.only_here')}</p>
      ) : (
        <>
          <p>
            {t('account.sessions.browsers_count', { count: browsers })}.{' '}
            {t('account.security.applications_count', { count: applications })}.
          </p>
          <Button
            kind="danger"
            onClick={() => {
              setEnded(undefined);
              setAsking(true);
            }}
          >
            {t('account.end_all.button')}
          </Button>
        </>
      )}
      {isAsking && (
        <EndAllSessionsDialog
          kept={kept}
          onClose={() => setAsking(false)}
          onEnded={(count) => {
            setEnded(count);
            setAsking(false);
          }}
        />
      )}
    </>
  );
}

/** What can be signed out: names and IDs of the checkboxes. */
const CHOICES = {
  other_browsers: 'account.end_all.other_browsers',
  this_browser: 'account.end_all.this_browser',
  applications: 'account.end_all.applications',
} as const satisfies Record<string, AreaKey>;
type Choice = keyof typeof CHOICES;

function EndAllSessionsDialog({
  kept,
  onClose,
  onEnded,
}: {
  /** Choices made before a reauthentication. */
  kept: Readonly<Record<string, string>> | undefined;
  onClose: () => void;
  onEnded: (count: number) => void;
}): VNode {
  const { t } = useTranslations();
  const [chosen, setChosen] = useState<Readonly<Record<Choice, boolean>>>(() => ({
    other_browsers: kept?.['other_browsers'] !== 'false',
    this_browser: kept?.['this_browser'] === 'true',
    applications: kept?.['applications'] !== 'false',
  }));
  const values = useMemo(
    () => ({
      name: FORM,
      values: Object.fromEntries(Object.entries(chosen).map(([name, isChosen]) => [name, String(isChosen)])),
    }),
    [chosen],
  );
  const { run, isPending, problem } = useAction(EndAllSessionsMutation, values);
  const [trouble, setTrouble] = useState<AreaKey | undefined>();
  const box = (name: Choice) => (
    <CheckField
      name={name}
      label={t(CHOICES[name])}
      isChecked={chosen[name]}
      onChange={(isChecked) => {
        setChosen((before) => ({ ...before, [name]: isChecked }));
        setTrouble(undefined);
      }}
    />
  );
  const endsThis = chosen.other_browsers && chosen.this_browser;
  const submit = async () => {
    setTrouble(undefined);
    if (!chosen.other_browsers && !chosen.applications) {
      setTrouble('account.end_all.required');
      document.getElementById('other_browsers')?.focus();
      return;
    }
    const kinds = [
      ...(chosen.other_browsers ? (['BROWSER'] as const) : []),
      ...(chosen.applications ? (['OAUTH2', 'COMPAT'] as const) : []),
    ];
    const response = (await run({ kinds, keepCurrent: !endsThis }))?.endAllSessions;
    if (response === undefined) return;
    if (response.status !== 'ENDED') setTrouble('account.problem.general');
    else if (endsThis) location.reload();
    else onEnded(response.browserSessions + response.oauth2Sessions + response.compatSessions);
  };
  return (
    <Dialog title={t('account.end_all.question')} isPending={isPending} onClose={onClose}>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        {trouble !== undefined && (
          <div id="end-all-trouble" role="alert">
            <Notice kind="danger">{t(trouble)}</Notice>
          </div>
        )}
        <fieldset aria-describedby={trouble === undefined ? undefined : 'end-all-trouble'}>
          <legend>{t('account.end_all.which')}</legend>
          {box('other_browsers')}
          {chosen.other_browsers && box('this_browser')}
          {box('applications')}
        </fieldset>
        <p>{t('account.end_all.lost_messages')}</p>
        {endsThis && <p>{t('account.end_all.leave')}</p>}
        <DialogButtons isPending={isPending} onClose={onClose}>
          <Button kind="danger" isPending={isPending}>
            {t('account.sign_out')}
          </Button>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}
