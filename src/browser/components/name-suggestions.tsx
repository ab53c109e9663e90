import type { VNode } from 'preact';
import type { Translations } from '../i18n/translations.ts';
import { Form, HiddenFields } from './form.tsx';

const FORM_ID = 'name-suggestions';

/** Free usernames in place of a taken one. */
export interface NameSuggestions {
  /** Names of `suggestFreeNames`. */
  readonly names: readonly string[];
  /** Name of the form field that a press of a suggestion sends. */
  readonly sentAs: 'username' | 'suggestion';
}

/**
 * One button per suggestion, for the field `username`. They belong to `SuggestionForm`, so that Enter in a text field
 * still submits the page's form. A press sends the name; with scripts, `suggestion` only fills in the field.
 */
export function SuggestionButtons({
  translations,
  suggestions: { names, sentAs },
}: {
  translations: Translations;
  suggestions: NameSuggestions;
}): VNode | null {
  if (names.length === 0) return null;
  return (
    <div class="suggestions">
      <span class="hint" id="suggestions-label">
        {translations.t('username.suggestions')}
      </span>
      {names.map((name) => (
        <button
          type="submit"
          form={FORM_ID}
          class="button button-secondary"
          name={sentAs}
          value={name}
          aria-describedby="suggestions-label"
          data-fills={sentAs === 'suggestion' ? 'username' : undefined}
        >
          <bdi dir="ltr">{name}</bdi>
        </button>
      ))}
    </div>
  );
}

/** The form of `SuggestionButtons`: a sibling of the page's form, with what the user entered there. */
export function SuggestionForm({
  suggestions,
  action,
  csrf,
  fields,
}: {
  suggestions: NameSuggestions;
  action: string;
  csrf: string;
  fields: readonly (readonly [name: string, value: string])[];
}): VNode | null {
  if (suggestions.names.length === 0) return null;
  return (
    <Form action={action} csrf={csrf} id={FORM_ID}>
      <HiddenFields fields={fields} />
    </Form>
  );
}
