import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import type { PolicyVersion, Resource, Single, StoredPolicyData } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { formatted } from './json-text.ts';
import type { PolicyVersions } from './policy-data.ts';

const DATA = new Responses<Single<StoredPolicyData>>();

/** The kept versions: when, by whom, and their data. */
export function PolicyHistory({
  versions,
  onRestore,
}: {
  versions: PolicyVersions['data'];
  /** Puts the text of a version into the editor. */
  onRestore: (text: string) => void;
}): VNode | null {
  const { t, language } = useTexts();
  const [shown, setShown] = useState<Resource<PolicyVersion> | undefined>();
  if (versions.length === 0) return null;
  const [latest] = versions;
  return (
    <section class="section">
      <h2>{t('admin.policy.history')}</h2>
      <p class="meta">{t('admin.policy.history_text')}</p>
      <DataTable
        label={t('admin.policy.history')}
        rows={versions}
        isLoading={false}
        columns={[
          {
            title: t('admin.policy.saved_at'),
            cell: ({ id, attributes }) => (
              <span>
                <Time at={attributes.created_at} />{' '}
                {id === latest?.id && <span class="badge">{t('admin.policy.in_force')}</span>}
              </span>
            ),
          },
          { title: t('admin.policy.saved_by'), cell: ({ attributes }) => <Author version={attributes} /> },
          {
            title: t('admin.policy.actions'),
            cell: (version) => (
              <Button
                kind="quiet"
                label={t('admin.policy.view_label', {
                  time: new Date(version.attributes.created_at).toLocaleString(language),
                })}
                onClick={() => setShown(version)}
              >
                {t('admin.policy.view')}
              </Button>
            ),
          },
        ]}
      />
      {shown !== undefined && (
        <VersionDialog version={shown} onRestore={onRestore} onClose={() => setShown(undefined)} />
      )}
    </section>
  );
}

function VersionDialog({
  version: { id, attributes },
  onRestore,
  onClose,
}: {
  version: Resource<PolicyVersion>;
  onRestore: (text: string) => void;
  onClose: () => void;
}): VNode {
  const { t } = useTexts();
  const stored = useResource(DATA, `policy-data/${id}`);
  return (
    <Dialog title={<Time at={attributes.created_at} />} onClose={onClose}>
      <Loaded resource={stored}>
        {({ data }) => {
          const text = formatted(data.attributes.data);
          return (
            <>
              <pre class="text-block" dir="ltr">
                {text}
              </pre>
              <p>{t('admin.policy.restore_text')}</p>
              <div class="dialog-buttons">
                <Button
                  onClick={() => {
                    onRestore(text);
                    onClose();
                  }}
                >
                  {t('admin.policy.restore')}
                </Button>
                <Button kind="secondary" onClick={onClose}>
                  {t('admin.cancel')}
                </Button>
              </div>
            </>
          );
        }}
      </Loaded>
    </Dialog>
  );
}

/** Who stored a version. */
export function Author({ version: { created_by: by } }: { version: PolicyVersion }): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  if (by === null) return <span class="meta">{t('admin.policy.unknown_author')}</span>;
  if (by.user_id !== null) {
    return (
      <a href={`${root}users/${by.user_id}`}>
        <bdi>{by.username ?? by.user_id}</bdi>
      </a>
    );
  }
  return (
    <a href={`${root}applications/${by.client_id}`}>
      <bdi>{by.client_id}</bdi>
    </a>
  );
}
