import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useTranslations } from '../i18n/translations.ts';

interface FieldProps {
  /** Name and ID of the input. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** A WHATWG autofill token list, for example `email`. */
  readonly autocomplete: string;
  readonly maxLength?: number;
  readonly hint?: ComponentChildren;
  /** Validation error. */
  readonly error?: string | undefined;
}

// Browsers must not change the input. This spelling makes Preact set an attribute: the property is a boolean, for which
// "off" would mean on.
const EXACT = { autocapitalize: 'none', autoCorrect: 'off', spellcheck: false } as const;

/** An input with its label, hint and error. */
export function TextField({
  keyboard,
  isCode = false,
  ...field
}: FieldProps & {
  /** Virtual keyboard on phones, other than letters. */
  readonly keyboard?: 'email' | 'numeric';
  /** A code, whose characters are read one by one. */
  readonly isCode?: boolean;
}): VNode {
  return (
    <FieldFrame field={field}>
      <input
        type="text"
        class={isCode ? 'code-input' : undefined}
        inputMode={keyboard}
        {...EXACT}
        dir={isCode ? 'ltr' : 'auto'}
        {...inputAttributes(field)}
      />
    </FieldFrame>
  );
}

// Two literals, because the allowed attributes depend on the input type.
const SHOWN = { type: 'text' } as const;
const HIDDEN = { type: 'password' } as const;

/** A password input with a button that reveals it. `children`: feedback during input. */
export function PasswordField({
  onFocus,
  onBlur,
  children,
  ...field
}: FieldProps & { onFocus?: () => void; onBlur?: () => void; children?: ComponentChildren }): VNode {
  const { t } = useTranslations();
  const [isShown, setShown] = useState(false);
  const buttonId = `${field.name}-reveal`;
  return (
    <FieldFrame field={field}>
      <div class="password">
        <input
          {...(isShown ? SHOWN : HIDDEN)}
          {...EXACT}
          {...inputAttributes(field)}
          onFocus={onFocus}
          onBlur={onBlur}
        />
        <button
          type="button"
          id={buttonId}
          class="reveal"
          aria-controls={field.name}
          aria-labelledby={`${buttonId} ${field.name}-label`}
          onClick={() => setShown(!isShown)}
        >
          {t(isShown ? 'field.hide_password' : 'field.show_password')}
        </button>
      </div>
      {children}
    </FieldFrame>
  );
}

/** A checkbox with its label. */
export function CheckField({
  name,
  label,
  isChecked,
  onChange,
}: {
  name: string;
  label: string;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
}): VNode {
  return (
    <div class="field">
      <div class="check">
        <input
          type="checkbox"
          id={name}
          name={name}
          checked={isChecked}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <label for={name}>{label}</label>
      </div>
    </div>
  );
}

function FieldFrame({ field, children }: { field: FieldProps; children: ComponentChildren }): VNode {
  return (
    <div class="field">
      <label id={`${field.name}-label`} for={field.name}>
        {field.label}
      </label>
      {children}
      {field.error !== undefined && (
        <div class="field-error" id={`${field.name}-error`} role="alert">
          <p>{field.error}</p>
        </div>
      )}
      {field.hint !== undefined && (
        <p class="hint" id={`${field.name}-hint`}>
          {field.hint}
        </p>
      )}
    </div>
  );
}

function inputAttributes(field: FieldProps) {
  const isInvalid = field.error !== undefined;
  const descriptions = [isInvalid && `${field.name}-error`, field.hint !== undefined && `${field.name}-hint`];
  const describedBy = descriptions.filter((id) => id !== false).join(' ');
  return {
    id: field.name,
    name: field.name,
    value: field.value,
    required: true,
    autocomplete: field.autocomplete,
    onInput: (event: { readonly currentTarget: HTMLInputElement }) => field.onInput(event.currentTarget.value),
    ...(field.maxLength !== undefined && { maxLength: field.maxLength }),
    ...(isInvalid && { 'aria-invalid': 'true' as const }),
    ...(describedBy !== '' && { 'aria-describedby': describedBy }),
  };
}
