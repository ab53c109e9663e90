import type { VNode } from 'preact';
import { Disclosure } from '#browser/components/disclosure.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/i18n/translations.ts';

/**
 * Content security policy of the page (account-graphql 1.9). It allows style attributes and workers, so that operators
 * can replace the page with another GraphQL editor.
 */
export const PLAYGROUND_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const EXAMPLE = `query Me {
  viewer {
    __typename
    ... on User { username matrix { mxid } }
  }
}`;

/** The page for trying GraphQL documents. It has no form: only the script sends requests. */
export function PlaygroundPage({
  translations,
  endpoint,
  scriptPath,
}: {
  translations: Translations;
  /** Path of the API. */
  endpoint: string;
  scriptPath: string;
}): VNode {
  return (
    <>
      <Heading title={translations.t('playground.title')}>{translations.t('playground.text')}</Heading>
      <noscript>
        <p>{translations.t('playground.no_script')}</p>
      </noscript>
      <div
        class="form playground"
        data-endpoint={endpoint}
        data-failed={translations.t('playground.failed')}
        data-not-json={translations.t('playground.not_json')}
      >
        <Editor id="document" label={translations.t('playground.document')} rows={12} text={EXAMPLE} />
        <Editor id="variables" label={translations.t('playground.variables')} rows={3} text="{}" />
        <Editor id="headers" label={translations.t('playground.headers')} rows={3} text="{}" />
        <div class="buttons">
          <button type="button" class="button button-primary">
            {translations.t('playground.run')}
          </button>
        </div>
        <h2>{translations.t('playground.answer')}</h2>
        <p role="status" />
        <Output id="answer" label={translations.t('playground.answer')} />
        <Disclosure label={translations.t('playground.schema')} isOpen={false}>
          <Output id="schema" label={translations.t('playground.schema')} />
        </Disclosure>
      </div>
      <script src={scriptPath} defer />
    </>
  );
}

function Editor({ id, label, rows, text }: { id: string; label: string; rows: number; text: string }): VNode {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} rows={rows} dir="ltr" spellcheck={false} autocomplete="off" autocapitalize="off">
        {text}
      </textarea>
    </div>
  );
}

/** Scrollable content must be reachable by keyboard. */
function Output({ id, label }: { id: string; label: string }): VNode {
  return <textarea id={id} aria-label={label} rows={12} dir="ltr" readOnly spellcheck={false} autocomplete="off" />;
}
