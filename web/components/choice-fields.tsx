import type { ComponentChildren, VNode } from 'preact';

export interface Frame {
  /** Name and ID of the control. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string | undefined;
  /** Validation error. */
  readonly error?: string | undefined;
}

/** A choice of one value. */
export function SelectField({
  options,
  ...field
}: Frame & { options: readonly { readonly value: string; readonly text: string }[] }): VNode {
  return (
    <FieldFrame field={field}>
      <select
        {...attributesOf(field)}
        value={field.value}
        onChange={(event) => field.onInput(event.currentTarget.value)}
      >
        {options.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}

/** Several lines of text. */
export function LinesField({ rows = 3, ...field }: Frame & { rows?: number }): VNode {
  return (
    <FieldFrame field={field}>
      <textarea
        {...attributesOf(field)}
        rows={rows}
        dir="ltr"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="none"
        value={field.value}
        onInput={(event) => field.onInput(event.currentTarget.value)}
        // Browsers scroll only to the line with the cursor.
        onFocus={(event) => event.currentTarget.scrollIntoView({ block: 'nearest' })}
      />
    </FieldFrame>
  );
}

/** A label, a control, its error and its hint. */
export function FieldFrame({
  field,
  children,
}: {
  field: Pick<Frame, 'name' | 'label' | 'hint' | 'error'>;
  children: ComponentChildren;
}): VNode {
  return (
    <div class="field">
      <label for={field.name}>{field.label}</label>
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

/** Attributes that connect a control with its label, error and hint. */
export function attributesOf({ name, hint, error }: Pick<Frame, 'name' | 'hint' | 'error'>) {
  const described = [error !== undefined && `${name}-error`, hint !== undefined && `${name}-hint`].filter(Boolean);
  return {
    id: name,
    name,
    ...(error !== undefined && { 'aria-invalid': 'true' as const }),
    ...(described.length > 0 && { 'aria-describedby': described.join(' ') }),
  };
}
