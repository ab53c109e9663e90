import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { TextField } from '#browser/components/fields.tsx';
import { ErrorSummary, Form } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { FormProblem } from '#browser/form-problems.ts';
import type { Translations } from '#browser/translations.ts';

/** Asks by which name others are to see the person. */
export function DisplayNamePage({
  translations,
  path,
  csrf,
  username,
  displayName,
  problems,
}: {
  translations: Translations;
  path: string;
  csrf: string;
  username: string;
  /** What was typed before. */
  displayName: string;
  problems: readonly FormProblem[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('display_name.title')}>
        {translations.rich('display_name.text', { username: <bdi class="name">{username}</bdi> })}
      </Heading>
      <ErrorSummary translations={translations} problems={problems} />
      <Form action={path} csrf={csrf}>
        <TextField
          name="display_name"
          label={translations.t('display_name.label')}
          autocomplete="name"
          value={displayName}
          problems={problems}
        />
        <div class="buttons">
          <Button name="action" value="set">
            {translations.t('display_name.button')}
          </Button>
          <Button kind="secondary" name="action" value="skip">
            {translations.t('display_name.skip')}
          </Button>
        </div>
      </Form>
    </>
  );
}
