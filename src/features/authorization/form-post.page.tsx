import type { VNode } from 'preact';
import { Button } from '#browser/components/buttons.tsx';
import { HiddenFields } from '#browser/components/form.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/translations.ts';

/**
 * A form that carries the response to the client; the pages' script sends it at once, a button does without scripts.
 * @see OAuth 2.0 Form Post Response Mode 2
 */
export function FormPostPage({
  translations,
  redirectUri,
  fields,
}: {
  translations: Translations;
  redirectUri: string;
  fields: readonly (readonly [name: string, value: string])[];
}): VNode {
  return (
    <>
      <Heading title={translations.t('form_post.title')}>{translations.t('form_post.text')}</Heading>
      <form class="form" method="post" action={redirectUri} data-submit-at-once>
        <HiddenFields fields={fields} />
        <Button>{translations.t('form_post.button')}</Button>
      </form>
    </>
  );
}
