import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { FactList, FactRow } from '../../../components/facts.tsx';
import type { Single, StoredPolicyData } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { formatted } from './json-text.ts';
import type { BaseVersion, PolicyVersions, Restored } from './policy-data.ts';
import { PolicyEditor } from './policy-editor.tsx';
import { Author, PolicyHistory } from './policy-history.tsx';

const VERSIONS = new Responses<PolicyVersions>();
const DATA = new Responses<Single<StoredPolicyData>>();

/** The stored policy data: an editor, and the kept versions. */
export function PolicyData(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const versions = useResource(VERSIONS, 'policy-data');
  const wasRead = useRef(false);
  if (!versions.isLoading) wasRead.current = true;
  const stored = (version?: Single<StoredPolicyData>): void => {
    if (version !== undefined) DATA.keep(`policy-data/${version.data.id}`, version);
    versions.reload();
  };
  return (
    <>
      <PageTitle title={t('admin.policy.title')}>
        <a class="button button-secondary" href={`${root}settings`}>
          {t('admin.settings.title')}
        </a>
      </PageTitle>
      <p>
        {t('admin.policy.lead')} <a href={`${root}settings?search=policy.data`}>{t('admin.policy.configured')}</a>
      </p>
      <Loaded resource={versions}>
        {({ data }) => <Versions versions={data} isFresh={wasRead.current} onStored={stored} />}
      </Loaded>
    </>
  );
}

function Versions({
  versions,
  isFresh,
  onStored,
}: {
  versions: PolicyVersions['data'];
  /** The list was read after the page was opened, and is not one that an earlier visit kept. */
  isFresh: boolean;
  onStored: (stored?: Single<StoredPolicyData>) => void;
}): VNode {
  const { t } = useTexts();
  const [restored, setRestored] = useState<Restored | undefined>();
  const [latest] = versions;
  return (
    <>
      {latest === undefined ? (
        <>
          <p>{t('admin.policy.none')}</p>
          <PolicyEditor latest={NOTHING} restored={restored} onStored={onStored} />
        </>
      ) : (
        <>
          <FactList>
            <FactRow name={t('admin.policy.saved_at')}>
              <Time at={latest.attributes.created_at} />
            </FactRow>
            <FactRow name={t('admin.policy.saved_by')}>
              <Author version={latest.attributes} />
            </FactRow>
          </FactList>
          {isFresh && <Latest id={latest.id} restored={restored} onStored={onStored} />}
        </>
      )}
      <PolicyHistory versions={versions} onRestore={(text) => setRestored({ text })} />
    </>
  );
}

/** Nothing is stored yet. */
const NOTHING: BaseVersion = { id: undefined, text: formatted({}) };

function Latest({
  id,
  restored,
  onStored,
}: {
  id: string;
  restored: Restored | undefined;
  onStored: (stored?: Single<StoredPolicyData>) => void;
}): VNode {
  const stored = useResource(DATA, `policy-data/${id}`);
  return (
    <Loaded resource={stored}>
      {({ data: { attributes } }) => (
        <PolicyEditor latest={{ id, text: formatted(attributes.data) }} restored={restored} onStored={onStored} />
      )}
    </Loaded>
  );
}
