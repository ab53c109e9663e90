import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { FactList, FactRow } from '../../../components/facts.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { useTexts } from '../../i18n/translations.ts';
import { type DescribedSetting, isHidden, type SettingSource, type ShownSection, valueText } from './configuration.ts';

/** Longer values are shown on several lines. */
const LONG = 60;

/** One section of the configuration with its settings. */
export function SettingsSection({ section, isOpen }: { section: ShownSection; isOpen: boolean }): VNode {
  const { t } = useTexts();
  const { name, description, documentation, settings } = section;
  const title = name === '' ? t('admin.settings.top_level') : name;
  const changed = settings.filter(({ differs }) => differs).length;
  return (
    <details class="card settings-section" open={isOpen}>
      <summary>
        <h2>{name === '' ? title : <code>{name}</code>}</h2>
        <span class="meta">
          {t('admin.settings.count', { count: settings.length })}
          {changed > 0 && `, ${t('admin.settings.changed', { count: changed })}`}
        </span>
      </summary>
      <p>
        {description !== null && (
          <span lang="en" dir="ltr">
            {description}
          </span>
        )}{' '}
        <span class="meta">
          {t('admin.settings.documentation')} <code dir="ltr">{documentation}</code>
        </span>
      </p>
      <DataTable
        label={title}
        rows={settings.map((setting) => ({ ...setting, id: setting.key }))}
        isLoading={false}
        columns={[
          { title: t('admin.settings.key'), cell: (setting) => <Key setting={setting} /> },
          { title: t('admin.settings.value'), cell: (setting) => <Value setting={setting} /> },
          { title: t('admin.settings.source'), cell: ({ source }) => <Source source={source} /> },
        ]}
      />
    </details>
  );
}

/** The key, which opens what the manual says about it. */
function Key({ setting: { key, about } }: { setting: DescribedSetting }): VNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code dir="ltr">{key}</code>
      </summary>
      {isOpen && <About setting={{ key, about }} />}
    </details>
  );
}

function About({ setting: { key, about } }: { setting: Pick<DescribedSetting, 'key' | 'about'> }): VNode {
  const { t } = useTexts();
  return (
    <>
      <p lang="en" dir="ltr">
        <Markdown text={about.meaning} />
      </p>
      <FactList>
        <FactRow name={t('admin.settings.type')}>
          <span lang="en" dir="ltr">
            <Markdown text={about.type} />
          </span>
        </FactRow>
        <FactRow name={t('admin.settings.default')}>
          <span lang="en" dir="ltr">
            <Markdown text={about.default} />
          </span>
        </FactRow>
        <FactRow name={t('admin.settings.applies')}>
          {t(about.applies_after === 'restart' ? 'admin.settings.applies.restart' : 'admin.settings.applies.reload')}
        </FactRow>
      </FactList>
      <CopyButton name={key} value={key} />
    </>
  );
}

function Value({ setting }: { setting: DescribedSetting }): VNode {
  const { t } = useTexts();
  const { value, differs, restart_required: needsRestart } = setting;
  return (
    <span class="setting-value">
      {value === null ? (
        <span class="meta">{t('admin.settings.unset')}</span>
      ) : isHidden(setting) ? (
        <span class="meta">{t('admin.settings.hidden')}</span>
      ) : (
        <Plain value={value} />
      )}
      {differs && <span class="badge">{t('admin.settings.differs')}</span>}
      {needsRestart && <span class="badge badge-danger">{t('admin.settings.needs_restart')}</span>}
    </span>
  );
}

function Plain({ value }: { value: unknown }): VNode {
  const text = valueText(value);
  if (text.length <= LONG || typeof value === 'string') return <code dir="ltr">{text}</code>;
  return (
    <pre dir="ltr" class="text-block">
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}

function Source({ source: { kind, name, line } }: { source: SettingSource }): VNode {
  const { t } = useTexts();
  switch (kind) {
    case 'default':
      return <span class="meta">{t('admin.settings.source.default')}</span>;
    case 'file':
      // The page names the directories at its top.
      return (
        <span>
          <code dir="ltr">{name?.replace(/^.*\//, '')}</code>{' '}
          {line !== null && <span class="meta">{t('admin.settings.source.line', { line })}</span>}
        </span>
      );
    case 'environment':
      return (
        <span>
          <span class="meta">{t('admin.settings.source.environment')}</span> <code dir="ltr">{name}</code>
        </span>
      );
    case 'flag':
      return (
        <span>
          <span class="meta">{t('admin.settings.source.flag')}</span> <code dir="ltr">{name}</code>
        </span>
      );
    case 'generated':
      return <span>{t('admin.settings.source.generated')}</span>;
  }
}

/** The manual's Markdown, as far as it occurs in one line. Its links lead to other pages of the manual. */
function Markdown({ text }: { text: string }): VNode {
  const parts = text.split(/(`[^`]+`)/);
  return (
    <>
      {parts.map((part, index) =>
        part.startsWith('`') ? (
          <code key={String(index)}>{part.slice(1, -1)}</code>
        ) : (
          part.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
        ),
      )}
    </>
  );
}
