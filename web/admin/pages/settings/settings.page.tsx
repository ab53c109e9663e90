import type { VNode } from 'preact';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../../../src/browser/components/text.tsx';
import { FactList, FactRow } from '../../../components/facts.tsx';
import { withParameters } from '../../api/admin-client.ts';
import type { EffectiveConfiguration } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { FilterBar } from '../../components/filter-bar.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { useTexts } from '../../i18n/translations.ts';
import { shownSections } from './configuration.ts';
import { SettingsSection } from './settings-section.tsx';

const CONFIGURATION = new Responses<EffectiveConfiguration>();

/** The configuration in force, by section. Nothing can be changed here. */
export function Settings(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const { query, route } = useLocation();
  const { search, show } = query;
  const filters = { search, show };
  const isFiltered = search !== undefined || show !== undefined;
  const configuration = useResource(CONFIGURATION, 'effective-configuration');
  return (
    <>
      <PageTitle title={t('admin.settings.title')}>
        <a class="button button-secondary" href={`${root}settings/policy-data`}>
          {t('admin.policy.title')}
        </a>
      </PageTitle>
      <p>{t('admin.settings.lead')}</p>
      <FilterBar
        searchLabel={t('admin.settings.search')}
        choices={[
          {
            name: 'show',
            label: t('admin.settings.show'),
            options: [
              { value: 'changed', text: t('admin.settings.show.changed') },
              { value: 'restart', text: t('admin.settings.show.restart') },
            ],
          },
        ]}
        values={filters}
        onChange={(changed) => route(withParameters(`${root}settings`, changed), true)}
      />
      <Loaded resource={configuration}>
        {({ data }) => {
          const sections = shownSections(data, filters);
          const count = sections.reduce((total, { settings }) => total + settings.length, 0);
          return (
            <>
              <Origin data={data} />
              {isFiltered && <p role="status">{t('admin.settings.count', { count })}</p>}
              {sections.map((section) => (
                <SettingsSection key={section.name} section={section} isOpen={isFiltered} />
              ))}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** Which process responded, what it read, and what it does not use yet. */
function Origin({ data }: { data: EffectiveConfiguration['data'] }): VNode {
  const { t } = useTexts();
  const others = data.processes.filter(({ same_configuration: isSame }) => !isSame);
  return (
    <>
      {data.restart_required.length > 0 && (
        <Notice kind="warning">
          <p>{t('admin.settings.restart')}</p>
          <ul>
            {data.restart_required.map((key) => (
              <li key={key}>
                <code>{key}</code>
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {others.length > 0 && (
        <Notice kind="warning">
          <p>{t('admin.settings.others', { names: others.map(({ name }) => name).join(', ') })}</p>
        </Notice>
      )}
      <FactList>
        <FactRow name={t('admin.settings.process')}>
          <bdi>{data.process}</bdi>
          {data.processes.length > 1 && (
            <span class="meta"> {t('admin.settings.processes', { count: data.processes.length })}</span>
          )}
        </FactRow>
        <FactRow name={t('admin.settings.read_at')}>
          <Time at={data.read_at} />
        </FactRow>
        <FactRow name={t('admin.settings.files')}>
          {data.files.length === 0 ? (
            t('admin.settings.no_files')
          ) : (
            <ul class="plain">
              {data.files.map((file) => (
                <li key={file}>
                  <code dir="ltr">{file}</code>
                </li>
              ))}
            </ul>
          )}
        </FactRow>
      </FactList>
    </>
  );
}
