import type { VNode } from 'preact';
import { attributesOf, FieldFrame, type Frame } from '../../components/choice-fields.tsx';

/** A text that may be left out. */
export function OptionalField({
  keyboard,
  maxLength,
  ...field
}: Frame & {
  /** Virtual keyboard on phones, other than letters. */
  keyboard?: 'email' | 'numeric';
  maxLength?: number;
}): VNode {
  return (
    <FieldFrame field={field}>
      <input
        type="text"
        inputMode={keyboard}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        dir="auto"
        {...(maxLength !== undefined && { maxLength })}
        {...attributesOf(field)}
        value={field.value}
        onInput={(event) => field.onInput(event.currentTarget.value)}
      />
    </FieldFrame>
  );
}
