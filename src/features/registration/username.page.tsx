import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { TextField } from '#browser/components/fields.tsx';
import { ErrorSummary, Form } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { FormProblem } from '#browser/form-problems.ts';
import type { Translations } from '#browser/translations.ts';

/** Asks for another username in place of one that cannot be had any more. */
export function UsernamePage({
  translations,
  path,
  csrf,
  lostName,
  username,
  problems,
}: {
  translations: Translations;
  path: string;
  csrf: string;
  lostName: string;
  /** What was typed before. */
  username: string;
  problems: readonly FormProblem[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('username.lost.title')}>
        {translations.rich('username.lost.text', { username: <bdi class="name">{lostName}</bdi> })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={path} csrf={csrf}>
        <TextField
          name="username"
          label={translations.t('login.username')}
          autocomplete="username"
          hint={translations.t('username.hint')}
          value={username}
          problems={problems}
        />
        <Button>{translations.t('username.button')}</Button>
      </Form>
    </>
  );
}
