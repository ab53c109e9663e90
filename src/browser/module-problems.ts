import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import type { FormProblem } from './components/form.tsx';
import { moduleMessage } from './components/module-message.ts';
import type { Translations } from './i18n/translations.ts';

/** What a rule of the operator's module says, at a field; undefined: about the form as a whole. */
export function moduleProblem(
  translations: Translations,
  violation: ModuleViolation,
  field: string | undefined,
): FormProblem {
  const problem = { code: violation.code, message: moduleMessage(translations, violation) };
  return field === undefined ? problem : { ...problem, field };
}
