import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import type { FormProblem } from './components/form.tsx';
import { moduleMessage } from './components/module-message.ts';
import type { Translations } from './i18n/translations.ts';

/** Returns a policy module's violation as a problem of a field. An undefined field means the whole form. */
export function moduleProblem(
  translations: Translations,
  violation: ModuleViolation,
  field: string | undefined,
): FormProblem {
  const problem = { code: violation.code, message: moduleMessage(translations, violation) };
  return field === undefined ? problem : { ...problem, field };
}
