import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Notice } from '../../../../src/browser/components/text.tsx';
import { Button } from '../../../components/button.tsx';
import { FactList, FactRow } from '../../../components/facts.tsx';
import { TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { type Versioned, withParameters } from '../../api/admin-client.ts';
import { useClient } from '../../api/context.ts';
import type { AuditEvent, ClientDetails, List, Single, WithSecret } from '../../api/documents.ts';
import { useChange } from '../../api/use-change.ts';
import { type DraftForm, fieldErrors, useDraftForm } from '../../components/form-dialog.tsx';
import { ProblemNotice, useProblemText } from '../../components/loaded.tsx';
import { UriList } from '../../components/uri-list.tsx';
import { useAnnounce } from '../../frame/live.tsx';
import { useTexts } from '../../i18n/translations.ts';
import { ApplicationFields, FIELD_LABELS, FIELDS, type Field, patchOf, valuesOf } from './application-form.tsx';
import { keepSecret } from './new-secrets.ts';

type Stored = Versioned<Single<ClientDetails>>;

/** What another administrator changed while the form was open. */
interface Conflict {
  readonly stored: Stored;
  readonly fields: readonly Field[];
  /** Undefined if the event was not found. */
  readonly by: { readonly name: string; readonly at: string } | undefined;
}

/** Changes the properties of an application. Keeps what was typed if the change fails. */
export function EditForm({ stored, onStored }: { stored: Stored; onStored: () => void }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const announce = useAnnounce();
  const textOf = useProblemText();
  const { id, attributes } = stored.document.data;
  // The version that the values of the form are based on. It does not change when the page reads the record again.
  const [base, setBase] = useState(stored);
  const before = valuesOf(base.document.data.attributes);
  const form = useDraftForm('edit', before);
  const { isPending, problem, send } = useChange();
  const [isAtField, setAtField] = useState(false);
  const [conflict, setConflict] = useState<Conflict | undefined>();
  const patch = patchOf(before, form.values);
  const isChanged = Object.keys(patch).length > 0;

  const saved = (response: WithSecret<ClientDetails>): void => {
    if (response.meta?.client_secret !== undefined) keepSecret(id, response.meta.client_secret);
    form.forget();
    announce(t('admin.apps.saved'));
    onStored();
  };
  const save = async (onto: Stored): Promise<void> => {
    setConflict(undefined);
    setAtField(false);
    const response = await send(() =>
      client.patch<WithSecret<ClientDetails>>(`oauth2-clients/${id}`, patch, { ifMatch: onto.version }),
    );
    if (response.ok) return saved(response.data);
    if (response.problem.kind === 'refused' && response.problem.code === 'precondition_failed') return await explain();
    const errors = fieldErrors(response.problem, form.values, textOf);
    setAtField(errors !== undefined);
    if (errors !== undefined) form.reject(errors);
  };
  const explain = async (): Promise<void> => {
    const current = await send(() => client.getVersion<Single<ClientDetails>>(`oauth2-clients/${id}`));
    if (!current.ok) return;
    const theirs = valuesOf(current.data.document.data.attributes);
    // The response to an earlier attempt was lost, and the application has not been changed since.
    if (FIELDS.every((name) => theirs[name] === form.values[name])) return saved(current.data.document);
    const fields = FIELDS.filter((name) => theirs[name] !== before[name]);
    setConflict({ stored: current.data, fields, by: await lastChange(id) });
  };
  const lastChange = async (target: string): Promise<Conflict['by']> => {
    const events = await client.get<List<AuditEvent>>(
      withParameters('audit-events', { 'filter[kind]': 'admin_action', 'page[first]': '100' }),
    );
    if (!events.ok) return undefined;
    const event = events.data.data.find(({ attributes: shown }) => shown.target?.id === target)?.attributes;
    return event === undefined
      ? undefined
      : { name: event.actor.username ?? t('admin.apps.conflict.program'), at: event.created_at };
  };
  const takeTheirs = ({ stored: theirs, fields }: Conflict): void => {
    const values = valuesOf(theirs.document.data.attributes);
    for (const name of fields) form.set(name, values[name]);
    setBase(theirs);
    setConflict(undefined);
  };

  const isManaged = attributes.kind === 'managed';
  return (
    <Form isPending={isPending} onSubmit={() => save(base)}>
      {isManaged ? <ApplicationFields form={form} /> : <OverrideFields form={form} />}
      {conflict !== undefined && (
        <ConflictNotice
          conflict={conflict}
          before={before}
          isPending={isPending}
          onTheirs={() => takeTheirs(conflict)}
          onOverwrite={() => void save(conflict.stored)}
        />
      )}
      {problem !== undefined && !isAtField && conflict === undefined && <ProblemNotice problem={problem} />}
      <div class="actions">
        <Button isPending={isPending} isDisabled={!isChanged}>
          {t('admin.apps.save')}
        </Button>
        {isChanged && (
          <Button
            kind="secondary"
            isDisabled={isPending}
            onClick={() => {
              for (const name of FIELDS) form.set(name, before[name]);
              form.forget();
              setConflict(undefined);
            }}
          >
            {t('admin.apps.discard')}
          </Button>
        )}
      </div>
    </Form>
  );
}

/** The fields of an application that registered itself: what users see instead of its own name and logo. */
function OverrideFields({ form: { values, errors, set } }: { form: DraftForm<Field> }): VNode {
  const { t } = useTexts();
  return (
    <>
      {(['client_name', 'logo_uri'] as const).map((name) => (
        <TextField
          key={name}
          name={name}
          label={t(FIELD_LABELS[name])}
          autocomplete="off"
          value={values[name]}
          error={errors[name]}
          hint={t('admin.apps.hint.override')}
          onInput={(value) => set(name, value)}
        />
      ))}
      <UriList
        name="allowed_groups"
        label={t(FIELD_LABELS.allowed_groups)}
        value={values.allowed_groups}
        error={errors.allowed_groups}
        hint={t('admin.apps.hint.groups')}
        onInput={(value) => set('allowed_groups', value)}
      />
    </>
  );
}

function ConflictNotice({
  conflict,
  before,
  isPending,
  onTheirs,
  onOverwrite,
}: {
  conflict: Conflict;
  before: Readonly<Record<Field, string>>;
  isPending: boolean;
  onTheirs: () => void;
  onOverwrite: () => void;
}): VNode {
  const { t, language } = useTexts();
  const { by, fields, stored } = conflict;
  const theirs = valuesOf(stored.document.data.attributes);
  const at = by === undefined ? '' : new Date(by.at).toLocaleTimeString(language, { timeStyle: 'short' });
  return (
    <div role="alert">
      <Notice kind="warning">
        <p>
          {by === undefined ? t('admin.apps.conflict.title') : t('admin.apps.conflict.by', { name: by.name, time: at })}
        </p>
        {fields.length === 0 ? (
          <p>{t('admin.apps.conflict.elsewhere')}</p>
        ) : (
          <FactList>
            {fields.map((name) => (
              <FactRow key={name} name={t(FIELD_LABELS[name])}>
                <del class="break-all">{before[name] || '–'}</del> <ins class="break-all">{theirs[name] || '–'}</ins>
              </FactRow>
            ))}
          </FactList>
        )}
        <p>{t('admin.apps.conflict.choice')}</p>
        <div class="actions">
          <Button isPending={isPending} onClick={onOverwrite}>
            {t('admin.apps.conflict.overwrite')}
          </Button>
          {fields.length > 0 && (
            <Button kind="secondary" isDisabled={isPending} onClick={onTheirs}>
              {t('admin.apps.conflict.theirs')}
            </Button>
          )}
        </div>
      </Notice>
    </div>
  );
}
