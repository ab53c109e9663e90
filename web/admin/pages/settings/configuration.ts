import type { EffectiveConfiguration } from '../../api/documents.ts';

type Setting = EffectiveConfiguration['data']['settings'][number];
type Section = EffectiveConfiguration['data']['sections'][number];

export type SettingSource = Setting['source'];

export interface DescribedSetting extends Setting {
  readonly about: Section['keys'][number];
}

/** A section with those of its settings that match the filters. */
export interface ShownSection extends Section {
  readonly settings: readonly DescribedSetting[];
}

export interface SettingFilters {
  /** Part of a key, a value or a description. */
  readonly search?: string | undefined;
  readonly show?: string | undefined;
}

/** Returns the sections that contain matching settings. */
export function shownSections(
  { settings, sections }: EffectiveConfiguration['data'],
  { search = '', show }: SettingFilters,
): readonly ShownSection[] {
  const wanted = search.trim().toLowerCase();
  return sections
    .map((section) => {
      const keys = new Map(section.keys.map((key) => [key.name, key]));
      const own = settings.flatMap((setting): DescribedSetting[] => {
        const about = keys.get(setting.name);
        return about === undefined ? [] : [{ ...setting, about }];
      });
      const matching = own.filter(
        (setting) =>
          (show !== 'changed' || setting.differs) &&
          (show !== 'restart' || setting.restart_required) &&
          textOf(setting).includes(wanted),
      );
      return { ...section, settings: matching };
    })
    .filter(({ settings: matching }) => matching.length > 0);
}

function textOf({ key, value, about }: DescribedSetting): string {
  return `${key} ${value === null ? '' : valueText(value)} ${about.meaning}`.toLowerCase();
}

/** What the API shows instead of a secret. */
const REDACTED = '<redacted>';

export function isHidden({ about, value }: Pick<DescribedSetting, 'about' | 'value'>): boolean {
  return about.secret && value === REDACTED;
}

/** Returns a value in the notation of a configuration file. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
