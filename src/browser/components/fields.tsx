import type { ComponentChildren, VNode } from 'preact';
import type { Translations } from '../i18n/translations.ts';
import { type FormProblem, problemsOf } from './form.tsx';

interface FieldProps {
  /** Name and ID of the input. */
  readonly name: string;
  readonly label: string;
  /** A WHATWG autofill token list, for example `username`. */
  readonly autocomplete: string;
  /** Problems of the whole form. The field shows its own. */
  readonly problems: readonly FormProblem[];
  readonly maxLength?: number;
  /** A sentence below the input. */
  readonly hint?: string;
  /** The field that the page is for: it gets the focus, unless the form was rejected. */
  readonly isFirst?: boolean;
}

/** An input with its label, hint and error. `value` is the previously entered value, or a suggestion. */
export function TextField({
  value,
  isCode = false,
  isReadOnly = false,
  keyboard,
  children,
  ...field
}: FieldProps & {
  value: string | undefined;
  /** Keyboard that phones show, if not letters. */
  keyboard?: 'email' | 'numeric';
  /** A code of capital letters, shown with spacing between them. */
  isCode?: boolean;
  isReadOnly?: boolean;
  /** Help with an error, below it. */
  children?: ComponentChildren;
}): VNode {
  return (
    <FieldFrame field={field} help={children}>
      <input
        type="text"
        class={isCode ? 'code-input' : undefined}
        value={value ?? ''}
        inputMode={keyboard}
        readOnly={isReadOnly}
        {...(isCode ? CODE : EXACT)}
        {...inputAttributes(field)}
      />
    </FieldFrame>
  );
}

// Browsers must not change the entered text, not even in a password that is shown as text.
const UNCHANGED = { autocapitalize: 'none', autocorrect: 'off', spellcheck: false } as const;
const CODE = { ...UNCHANGED, autocapitalize: 'characters', dir: 'ltr' } as const;
/** A name or address can have a different writing direction from the page. */
const EXACT = { ...UNCHANGED, dir: 'auto' } as const;

/**
 * A password field, never filled in by the service. With scripts, a button shows the password. `children`: feedback
 * about the password while the user types.
 */
export function PasswordField({
  translations,
  children,
  ...field
}: FieldProps & { translations: Translations; children?: ComponentChildren }): VNode {
  const buttonId = `${field.name}-reveal`;
  return (
    <FieldFrame field={field}>
      <div class="password">
        <input type="password" {...UNCHANGED} {...inputAttributes(field)} />
        <button
          type="button"
          id={buttonId}
          class="reveal"
          hidden
          aria-controls={field.name}
          aria-labelledby={`${buttonId} ${field.name}-label`}
          data-label-shown={translations.t('field.hide_password')}
        >
          {translations.t('field.show_password')}
        </button>
      </div>
      {children}
    </FieldFrame>
  );
}

/** A checkbox with its text next to it. Sent as `on`. */
export function CheckField({
  label,
  isChecked,
  isRequired = true,
  ...field
}: Pick<FieldProps, 'name' | 'problems'> & {
  label: ComponentChildren;
  isChecked: boolean;
  isRequired?: boolean;
}): VNode {
  return (
    <div class="field">
      <div class="check">
        <input type="checkbox" value="on" checked={isChecked} {...describedInput(field)} required={isRequired} />
        <label for={field.name}>{label}</label>
      </div>
      <FieldErrors field={field} />
    </div>
  );
}

function FieldFrame({
  field,
  help,
  children,
}: {
  field: FieldProps;
  help?: ComponentChildren;
  children: ComponentChildren;
}): VNode {
  return (
    <div class="field">
      <label id={`${field.name}-label`} for={field.name}>
        {field.label}
      </label>
      {children}
      <FieldErrors field={field} />
      {help}
      {field.hint !== undefined && (
        <p class="hint" id={`${field.name}-hint`}>
          {field.hint}
        </p>
      )}
    </div>
  );
}

function FieldErrors({ field }: { field: Pick<FieldProps, 'name' | 'problems'> }): VNode | null {
  const problems = problemsOf(field.problems, field.name);
  if (problems.length === 0) return null;
  return (
    <div class="field-error" id={`${field.name}-error`}>
      {problems.map((problem) => (
        <p data-error-code={problem.code}>{problem.message}</p>
      ))}
    </div>
  );
}

function inputAttributes(field: FieldProps) {
  return {
    ...describedInput(field),
    autocomplete: field.autocomplete,
    ...(field.isFirst === true && field.problems.length === 0 && { autofocus: true }),
    ...(field.maxLength !== undefined && { maxLength: field.maxLength }),
  };
}

function describedInput(field: Pick<FieldProps, 'name' | 'problems' | 'hint'>) {
  const isInvalid = problemsOf(field.problems, field.name).length > 0;
  const descriptions = [isInvalid && `${field.name}-error`, field.hint !== undefined && `${field.name}-hint`];
  const describedBy = descriptions.filter((id) => id !== false).join(' ');
  return {
    id: field.name,
    name: field.name,
    required: true,
    ...(isInvalid && { 'aria-invalid': 'true' as const }),
    ...(describedBy !== '' && { 'aria-describedby': describedBy }),
  };
}
