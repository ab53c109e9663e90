import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Notice } from '../../../../src/browser/components/text.tsx';
import { Button } from '../../../components/button.tsx';
import { Form } from '../../../components/form.tsx';
import { useClient } from '../../api/context.ts';
import type { PolicyValidation, PolicyVersion, Single, StoredPolicyData } from '../../api/documents.ts';
import { useChange } from '../../api/use-change.ts';
import { ProblemNotice } from '../../components/loaded.tsx';
import { useAnnounce } from '../../frame/live.tsx';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';
import { JsonField, showPlace } from './json-field.tsx';
import { formatted, type JsonError, placeIn, readJson } from './json-text.ts';
import type { BaseVersion, PolicyVersions, PolicyWarning, Restored } from './policy-data.ts';
import { usePolicyDraft } from './policy-draft.ts';
import { TextChanges } from './text-changes.tsx';

/** Valid data that waits to be saved. */
interface Checked {
  readonly text: string;
  readonly data: object;
  readonly warnings: readonly PolicyWarning[];
}

/** What another administrator saved while the editor was open. */
interface Conflict {
  readonly theirs: BaseVersion;
  readonly by: PolicyVersion | undefined;
}

const FIELD = 'policy-data';

const WARNINGS: Readonly<Record<PolicyWarning['code'], AdminKey>> = {
  locks_out_caller: 'admin.policy.warning.locks_out_caller',
  bans_caller: 'admin.policy.warning.bans_caller',
  unknown_user: 'admin.policy.warning.unknown_user',
  respelled_user: 'admin.policy.warning.respelled_user',
  unknown_client: 'admin.policy.warning.unknown_client',
};

/**
 * Edits the policy data in two steps: it is checked and compared with the version in force, and then saved. What was
 * typed is kept in this tab, with the version that it is based on.
 * @param latest as the page read it last
 * @param restored a former version to put into the editor
 */
export function PolicyEditor({
  latest,
  restored,
  onStored,
}: {
  latest: BaseVersion;
  restored: Restored | undefined;
  /** Undefined: another version is the latest. */
  onStored: (stored?: Single<StoredPolicyData>) => void;
}): VNode {
  const { t, language } = useTexts();
  const client = useClient();
  const announce = useAnnounce();
  const { draft, keep } = usePolicyDraft();
  const { isPending, problem, send } = useChange();
  const [error, setError] = useState<string | undefined>();
  const [checked, setChecked] = useState<Checked | undefined>();
  const [conflict, setConflict] = useState<Conflict | undefined>();
  const storedId = useRef<string | undefined>(undefined);
  const { text, base } = draft ?? { text: latest.text, base: latest };
  const isChanged = text !== base.text;

  const edit = (changed: string, from: BaseVersion = base): void => {
    setChecked(undefined);
    setError(undefined);
    keep({ text: changed, base: from });
  };
  const reset = (): void => {
    setChecked(undefined);
    setConflict(undefined);
    setError(undefined);
    keep(undefined);
  };

  useEffect(() => {
    if (restored === undefined) return;
    edit(restored.text);
    document.getElementById(FIELD)?.focus();
  }, [restored]);
  useEffect(() => {
    if (draft === undefined || draft.base.id === latest.id) return;
    const isOwn = storedId.current === latest.id || !isChanged || canonical(text) === latest.text;
    if (isOwn) reset();
    else void explain();
  }, [latest.id]);

  const reject = (offset: number, message: string): void => {
    const { line, column } = placeIn(text, offset);
    setError(t('admin.policy.error.at', { line, column, message }));
    showPlace(FIELD, offset);
  };
  const check = async (): Promise<void> => {
    setChecked(undefined);
    const read = readJson(text);
    if (!read.ok) return reject(read.offset, syntaxText(read.error));
    const { value } = read;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return reject(0, t('admin.policy.error.object'));
    }
    const response = await send(() => client.post<PolicyValidation>('policy-data/draft/validate', { data: value }));
    if (!response.ok) return;
    const { problem: found, warnings } = response.data.data;
    if (found !== null) {
      const pointer = found.pointer.replace(/^\/data/, '');
      return reject(placeOf(read.places, pointer), `${pointer}: ${found.message}`);
    }
    setChecked({ text, data: value, warnings });
    announce(t('admin.policy.valid'));
  };
  const syntaxText = (error: JsonError): string => {
    switch (error.kind) {
      case 'unexpected':
        return t('admin.policy.error.unexpected', { found: error.found });
      case 'duplicate':
        return t('admin.policy.error.duplicate', { name: error.name });
      case 'end':
        return t('admin.policy.error.end');
      case 'escape':
        return t('admin.policy.error.escape');
      case 'control':
        return t('admin.policy.error.control');
      case 'deep':
        return t('admin.policy.error.deep');
    }
  };

  const saved = (stored: Single<StoredPolicyData>): void => {
    // The text stays until the page has read the new version.
    storedId.current = stored.data.id;
    setChecked(undefined);
    setConflict(undefined);
    announce(t('admin.policy.saved'));
    onStored(stored);
    document.getElementById(FIELD)?.focus();
  };
  const save = async ({ data }: Checked): Promise<void> => {
    setConflict(undefined);
    const condition = base.id === undefined ? { isFirst: true } : { ifMatch: `"${base.id}"` };
    const response = await send(() => client.post<Single<StoredPolicyData>>('policy-data', { data }, condition));
    if (response.ok) return saved(response.data);
    if (response.problem.kind === 'refused' && response.problem.code === 'precondition_failed') await explain();
  };
  const explain = async (): Promise<void> => {
    const versions = await send(() => client.get<PolicyVersions>('policy-data'));
    if (!versions.ok) return;
    const [newest] = versions.data.data;
    if (newest === undefined) return setConflict({ theirs: { id: undefined, text: formatted({}) }, by: undefined });
    const stored = await send(() => client.get<Single<StoredPolicyData>>(`policy-data/${newest.id}`));
    if (!stored.ok) return;
    const theirs = { id: newest.id, text: formatted(stored.data.data.attributes.data) };
    // The response to an earlier attempt was lost.
    if (theirs.text === canonical(text)) return saved(stored.data);
    setConflict({ theirs, by: newest.attributes });
  };

  return (
    <>
      <Form isPending={isPending} onSubmit={check}>
        <JsonField
          name={FIELD}
          label={t('admin.policy.text')}
          value={text}
          error={error}
          hint={t('admin.policy.hint')}
          onInput={(changed) => edit(changed)}
        />
        {problem !== undefined && conflict === undefined && <ProblemNotice problem={problem} />}
        <div class="actions">
          <Button isPending={isPending} kind={checked === undefined ? 'primary' : 'secondary'} isDisabled={!isChanged}>
            {t('admin.policy.check')}
          </Button>
          <Button
            kind="secondary"
            onClick={() => {
              const read = readJson(text);
              if (read.ok) edit(JSON.stringify(read.value, null, 2));
              else reject(read.offset, syntaxText(read.error));
            }}
          >
            {t('admin.policy.format')}
          </Button>
          {isChanged && (
            <Button kind="quiet" isDisabled={isPending} onClick={reset}>
              {t('admin.policy.discard')}
            </Button>
          )}
        </div>
      </Form>
      {conflict !== undefined && (
        <div role="alert">
          <Notice kind="warning">
            <p>{conflictText(conflict)}</p>
            <h3>{t('admin.policy.conflict.theirs')}</h3>
            <TextChanges before={base.text} after={conflict.theirs.text} />
            <h3>{t('admin.policy.conflict.yours')}</h3>
            <TextChanges before={base.text} after={canonical(text)} />
            <p>{t('admin.policy.conflict.choice')}</p>
            <div class="actions">
              <Button
                onClick={() => {
                  edit(text, conflict.theirs);
                  setConflict(undefined);
                  document.getElementById(FIELD)?.focus();
                }}
              >
                {t('admin.policy.conflict.keep')}
              </Button>
              <Button
                kind="secondary"
                onClick={() => {
                  reset();
                  onStored();
                }}
              >
                {t('admin.policy.conflict.take')}
              </Button>
            </div>
          </Notice>
        </div>
      )}
      {checked !== undefined && conflict === undefined && (
        <section class="section">
          <h2>{t('admin.policy.preview')}</h2>
          {checked.warnings.length > 0 && (
            <Notice kind="warning">
              <ul class="plain">
                {checked.warnings.map(({ code, pointer, subject }) => (
                  <li key={pointer + subject}>{t(WARNINGS[code], { subject })}</li>
                ))}
              </ul>
            </Notice>
          )}
          <TextChanges before={base.text} after={formatted(checked.data)} />
          <div class="actions">
            <Button
              kind={checked.warnings.some(({ code }) => DANGERS.includes(code)) ? 'danger' : 'primary'}
              isPending={isPending}
              onClick={() => void save(checked)}
            >
              {t('admin.policy.save')}
            </Button>
          </div>
        </section>
      )}
    </>
  );

  function conflictText({ by }: Conflict): string {
    if (by === undefined) return t('admin.policy.conflict.none');
    const time = new Date(by.created_at).toLocaleTimeString(language, { timeStyle: 'short' });
    const name = by.created_by?.username ?? by.created_by?.client_id ?? t('admin.policy.unknown_author');
    return t('admin.policy.conflict.by', { name, time });
  }
}

/** Warnings about what the administrator would lose. */
const DANGERS: readonly PolicyWarning['code'][] = ['locks_out_caller', 'bans_caller'];

/** Returns the text in the order of stored versions if it can be read. */
function canonical(text: string): string {
  const read = readJson(text);
  return read.ok ? formatted(read.value) : text;
}

/** Returns the place of a member, or of the nearest one around it that exists. */
function placeOf(places: ReadonlyMap<string, number>, pointer: string): number {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const offset = places.get(at);
    if (offset !== undefined) return offset;
  }
  return places.get('') ?? 0;
}
