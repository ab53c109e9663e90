import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { Notice } from '../../../../src/browser/components/text.tsx';
import { Button } from '../../../components/button.tsx';
import { FactList, FactRow } from '../../../components/facts.tsx';
import { useClient } from '../../api/context.ts';
import type { GroupDetails, Single } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Confirm } from '../../components/confirm.tsx';
import { FormDialog, useDraftForm } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { GroupFields, useGroupBody } from './group-fields.tsx';
import { Members } from './group-members.tsx';
import { GroupSource, MemberCount } from './group-source.tsx';

const GROUPS = new Responses<Single<GroupDetails>>();

interface ShownGroup {
  readonly id: string;
  readonly group: GroupDetails;
  readonly reload: () => void;
}

/** One group with its members and the applications that it opens. */
export function GroupView(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { params } = useRoute();
  const id = params['id'] ?? '';
  const group = useResource(GROUPS, `groups/${encodeURIComponent(id)}`);
  return (
    <>
      <p>
        <a href={`${root}groups`}>{t('admin.group.back')}</a>
      </p>
      <PageTitle title={group.data?.data.attributes.name ?? t('admin.group.title')} />
      <Loaded resource={group}>
        {({ data }) => {
          const shown = { id: data.id, group: data.attributes, reload: group.reload };
          return (
            <>
              <Properties {...shown} />
              <Members {...shown} />
              <Applications group={data.attributes} />
              <Deletion {...shown} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** Why the name cannot be changed here; undefined if it can. */
function useFixedReason({ external, clients }: GroupDetails): string | undefined {
  const { t } = useTexts();
  if (external) return t('admin.group.external_text');
  return clients.some(({ kind }) => kind === 'static') ? t('admin.group.configured_text') : undefined;
}

function Properties({ id, group, reload }: ShownGroup): VNode {
  const { t } = useTexts();
  const [isEditing, setEditing] = useState(false);
  return (
    <section class="card section">
      <h2>{t('admin.group.properties')}</h2>
      <FactList>
        <FactRow name={t('admin.groups.name')}>
          <bdi>{group.name}</bdi>
        </FactRow>
        <FactRow name={t('admin.groups.description')}>
          {group.description === null ? (
            <span class="meta">{t('admin.group.no_description')}</span>
          ) : (
            <bdi>{group.description}</bdi>
          )}
        </FactRow>
        <FactRow name={t('admin.group.id')}>
          <code>{id}</code>
        </FactRow>
        <FactRow name={t('admin.groups.members')}>
          <MemberCount count={group.member_count} />
        </FactRow>
        <FactRow name={t('admin.groups.source')}>
          <GroupSource group={group} />
        </FactRow>
        <FactRow name={t('admin.groups.created_at')}>
          <Time at={group.created_at} />
        </FactRow>
      </FactList>
      {group.pending !== null && (
        <Notice kind="info">
          <p>{t(group.pending === 'renaming' ? 'admin.group.renaming_text' : 'admin.group.deleting_text')}</p>
        </Notice>
      )}
      <div class="actions">
        <Button kind="secondary" isDisabled={group.pending === 'deleting'} onClick={() => setEditing(true)}>
          {t('admin.group.edit')}
        </Button>
      </div>
      {isEditing && <EditGroup id={id} group={group} reload={reload} onClose={() => setEditing(false)} />}
    </section>
  );
}

function EditGroup({ id, group, reload, onClose }: ShownGroup & { onClose: () => void }): VNode {
  const { t } = useTexts();
  const client = useClient();
  const form = useDraftForm(`group-${id}`, { name: group.name, description: group.description ?? '' });
  const body = useGroupBody(form);
  return (
    <FormDialog
      title={t('admin.group.edit_title', { name: group.name })}
      action={t('admin.group.save')}
      form={form}
      done={t('admin.group.saved', { name: form.values.name.trim() })}
      onSubmit={() => {
        const wanted = body();
        return wanted === undefined ? undefined : client.patch<Single<GroupDetails>>(`groups/${id}`, wanted);
      }}
      onDone={reload}
      onClose={onClose}
    >
      <GroupFields form={form} hint={useFixedReason(group) ?? t('admin.group.rename_hint')} />
    </FormDialog>
  );
}

function Applications({ group: { clients } }: { group: GroupDetails }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  return (
    <section class="card section">
      <h2>{t('admin.group.apps')}</h2>
      {clients.length === 0 ? (
        <p class="meta">{t('admin.group.no_apps')}</p>
      ) : (
        <>
          <p>{t('admin.group.apps_text')}</p>
          <ul class="rows">
            {clients.map((client) => (
              <li key={client.id} class="row">
                <a href={`${root}applications/${client.id}`}>
                  <bdi>{client.client_name ?? client.id}</bdi>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Deletion({ id, group }: ShownGroup): VNode | null {
  const { t } = useTexts();
  const { root } = useConfig();
  const { route } = useLocation();
  const client = useClient();
  const [isAsking, setAsking] = useState(false);
  const reason = useFixedReason(group);
  const { name, clients } = group;
  if (group.pending === 'deleting') return null;
  return (
    <section class="card section">
      <h2>{t('admin.group.delete')}</h2>
      <p>{reason ?? t('admin.group.delete_note')}</p>
      {reason === undefined && (
        <div class="actions">
          <Button kind="danger" onClick={() => setAsking(true)}>
            {t('admin.group.delete')}
          </Button>
        </div>
      )}
      {isAsking && (
        <Confirm
          title={t('admin.group.delete_title', { name })}
          action={t('admin.group.delete')}
          kind="danger"
          done={t('admin.group.deleted', { name })}
          typed={name}
          onConfirm={() => client.delete(clients.length === 0 ? `groups/${id}` : `groups/${id}?force=true`)}
          onDone={() => route(`${root}groups`)}
          onClose={() => setAsking(false)}
        >
          {t('admin.group.delete_text', { count: group.member_count })}
          {clients.length > 0 && ` ${t('admin.group.delete_apps', { count: clients.length })}`}
        </Confirm>
      )}
    </section>
  );
}
