import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { useTexts } from '../i18n/translations.ts';
import { useSlashKey } from './slash-key.ts';

export interface FilterField {
  /** Name of the URL parameter. */
  readonly name: string;
  readonly label: string;
  /** Values of a choice with their texts. The empty value is `any`. Undefined: a text. */
  readonly options?: readonly { readonly value: string; readonly text: string }[];
  readonly hint?: string;
}

type Values = Readonly<Record<string, string | undefined>>;

/** Filters that take effect together. Their values are in the URL. `/` focuses the first. */
export function FilterForm({
  fields,
  values,
  defaults = {},
  resolve,
  onChange,
}: {
  fields: readonly FilterField[];
  /** From the URL. Give the form a key with them, so that it follows the browser's back button. */
  values: Values;
  /** What the list shows without a parameter in the URL. */
  defaults?: Values;
  /** Replaces names with what the URL contains. Returns the name of a field that cannot be used, and why. */
  resolve?: (typed: Values) => Promise<ResolvedFilters>;
  onChange: (values: Values) => void;
}): VNode {
  const { t } = useTexts();
  const [typed, setTyped] = useState(values);
  const [error, setError] = useState<{ readonly name: string; readonly text: string } | undefined>();
  const [isPending, setPending] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const first = useRef<HTMLInputElement>(null);
  useSlashKey(first);
  const apply = async (): Promise<void> => {
    const trimmed = Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, value?.trim()]));
    setError(undefined);
    setPending(true);
    const resolved = (await resolve?.(trimmed)) ?? { ok: true, values: trimmed };
    setPending(false);
    if (resolved.ok) onChange(resolved.values);
    else {
      setError({ name: resolved.name, text: resolved.problem });
      form.current?.querySelector<HTMLElement>(`#filter-${resolved.name}`)?.focus();
    }
  };
  const isFiltered = Object.entries(values).some(([name, value = '']) => value !== (defaults[name] ?? ''));
  return (
    <search>
      <form
        ref={form}
        class="filter-form"
        noValidate
        aria-busy={isPending}
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending) void apply();
        }}
      >
        {fields.map((field, index) => (
          <Field
            key={field.name}
            field={field}
            value={typed[field.name] ?? ''}
            error={error?.name === field.name ? error.text : undefined}
            input={index === 0 ? first : undefined}
            onInput={(value) => setTyped((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
        <div class="actions filter-end">
          <Button kind="secondary" isPending={isPending}>
            {t('admin.filter.apply')}
          </Button>
          {isFiltered && (
            <Button kind="quiet" onClick={() => onChange({})}>
              {t('admin.filter.clear')}
            </Button>
          )}
        </div>
      </form>
    </search>
  );
}

export type ResolvedFilters =
  | { readonly ok: true; readonly values: Values }
  | { readonly ok: false; readonly name: string; readonly problem: string };

function Field({
  field: { name, label, options, hint },
  value,
  error,
  input,
  onInput,
}: {
  field: FilterField;
  value: string;
  error: string | undefined;
  input: { readonly current: HTMLInputElement | null } | undefined;
  onInput: (value: string) => void;
}): VNode {
  const { t } = useTexts();
  const id = `filter-${name}`;
  const described = [error !== undefined && `${id}-error`, hint !== undefined && `${id}-hint`]
    .filter(Boolean)
    .join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options === undefined ? (
        <input
          {...(input !== undefined && { ref: input })}
          id={id}
          autocomplete="off"
          type="text"
          autocapitalize="none"
          spellcheck={false}
          maxLength={255}
          dir="auto"
          value={value}
          aria-invalid={error !== undefined}
          aria-describedby={described === '' ? undefined : described}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      ) : (
        <select id={id} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
          <option value="">{t('admin.filter.any')}</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      )}
      {error !== undefined && (
        <div class="field-error" id={`${id}-error`} role="alert">
          <p>{error}</p>
        </div>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
