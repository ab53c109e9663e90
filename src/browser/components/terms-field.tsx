import type { VNode } from 'preact';
import type { Translations } from '../i18n/translations.ts';
import { CheckField } from './fields.tsx';
import type { FormProblem } from './form.tsx';

/** Terms that users must accept. */
export interface AcceptedTerms {
  readonly uri: string;
  /** The user already checked the box. */
  readonly isAccepted: boolean;
}

/** The checkbox `accept_terms`. */
export function TermsField({
  translations,
  terms,
  problems,
}: {
  translations: Translations;
  terms: AcceptedTerms;
  problems: readonly FormProblem[];
}): VNode {
  return (
    <CheckField
      name="accept_terms"
      label={translations.rich('register.accept_terms', {
        terms: (
          <a href={terms.uri} rel="noreferrer" target="_blank">
            {translations.t('register.terms')}
          </a>
        ),
      })}
      isChecked={terms.isAccepted}
      problems={problems}
    />
  );
}
