import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import type { FormProblem } from '#browser/components/form.tsx';
import { ErrorSummary, Form, HiddenFields } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';

/** For users who opened the sign-out URL directly, or whose form expired. Only the button signs out. */
export function LogoutPage({
  translations,
  logoutPath,
  csrf,
  problems,
  fields,
}: {
  translations: Translations;
  logoutPath: string;
  csrf: string;
  problems: readonly FormProblem[];
  /** Additional fields of the expired form. */
  fields: readonly (readonly [name: string, value: string])[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('logout.title')}>{translations.t('logout.text')}</Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={logoutPath} csrf={csrf}>
        <HiddenFields fields={fields} />
        <Button>{translations.t('logout.button')}</Button>
      </Form>
    </>
  );
}
