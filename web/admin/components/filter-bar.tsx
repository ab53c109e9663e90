import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useTexts } from '../i18n/translations.ts';
import { useSlashKey } from './slash-key.ts';

export interface Choice {
  /** Name of the URL parameter. */
  readonly name: string;
  readonly label: string;
  /** Values with their texts. The empty value is `any`. */
  readonly options: readonly { readonly value: string; readonly text: string }[];
}

const TYPED_MS = 300;

/** Search and filters of a list. Their values are in the URL. `/` focuses the search. */
export function FilterBar({
  searchLabel,
  choices,
  values,
  onChange,
}: {
  searchLabel: string;
  choices: readonly Choice[];
  values: Readonly<Record<string, string | undefined>>;
  onChange: (values: Readonly<Record<string, string | undefined>>) => void;
}): VNode {
  const { t } = useTexts();
  const [search, setSearch] = useState(values['search'] ?? '');
  const input = useRef<HTMLInputElement>(null);
  const page = useRef(location.pathname);
  const latest = useRef({ values, onChange });
  latest.current = { values, onChange };
  useEffect(() => {
    // The URL changed without typing: by a link, or by the browser's back button.
    if (document.activeElement !== input.current) setSearch(values['search'] ?? '');
  }, [values['search']]);
  useEffect(() => {
    const timer = setTimeout(() => {
      // This page stays until the code of the next one has arrived.
      if (location.pathname !== page.current) return;
      const { values: now, onChange: change } = latest.current;
      const wanted = search.trim();
      if (wanted !== (now['search'] ?? '')) change({ ...now, search: wanted });
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [search]);
  useSlashKey(input);
  const isFiltered = Object.values(values).some((value) => value !== undefined && value !== '');
  return (
    <search class="filter-bar">
      <div class="field filter-search">
        <label for="search">{searchLabel}</label>
        <input
          ref={input}
          id="search"
          type="search"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          maxLength={255}
          dir="auto"
          value={search}
          aria-keyshortcuts="/"
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </div>
      {choices.map(({ name, label, options }) => (
        <div class="field" key={name}>
          <label for={`filter-${name}`}>{label}</label>
          <select
            id={`filter-${name}`}
            value={values[name] ?? ''}
            onChange={(event) => onChange({ ...values, [name]: event.currentTarget.value })}
          >
            <option value="">{t('admin.filter.any')}</option>
            {options.map(({ value, text }) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </div>
      ))}
      {isFiltered && (
        <button
          type="button"
          class="button button-quiet"
          onClick={() => {
            setSearch('');
            onChange({});
          }}
        >
          {t('admin.filter.clear')}
        </button>
      )}
    </search>
  );
}
