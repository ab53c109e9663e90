import type { VNode } from 'preact';
import { FactList, FactRow } from '../../../components/facts.tsx';
import type { ClientConnection, ClientPreset, Single } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { CopyButton, CopyValue } from '../../components/copy-button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { useTexts } from '../../i18n/translations.ts';
import { filled, stepValues } from './preset-values.ts';

const PRESETS = new Responses<Single<ClientPreset>>();

/** What to do in the program of a preset, with the values of this application. The texts are those of the program. */
export function PresetSteps({ slug, connection }: { slug: string; connection: ClientConnection }): VNode {
  const { t } = useTexts();
  const preset = useResource(PRESETS, `client-presets/${encodeURIComponent(slug)}`);
  return (
    <Loaded resource={preset}>
      {({ data: { attributes } }) => {
        const values = stepValues(attributes, connection);
        return (
          <section class="card section">
            <h2>{t('admin.apps.preset.steps', { name: attributes.name })}</h2>
            <ol class="steps" lang="en" dir="ltr">
              {attributes.steps.map((step) => (
                <li key={JSON.stringify(step)}>
                  <Step step={step} values={values} />
                </li>
              ))}
            </ol>
          </section>
        );
      }}
    </Loaded>
  );
}

function Step({
  step,
  values,
}: {
  step: ClientPreset['steps'][number];
  values: Readonly<Record<string, string>>;
}): VNode {
  switch (step.kind) {
    case 'text':
      return <p>{filled(step.text, values)}</p>;
    case 'fields':
      return (
        <FactList>
          {step.fields.map(({ label, value }) => (
            <FactRow key={label} name={label}>
              <CopyValue name={label} value={filled(value, values)} />
            </FactRow>
          ))}
        </FactList>
      );
    case 'file':
      return <Block name={step.name} content={filled(step.content, values)} />;
    case 'command':
      return <Block name="sh" content={filled(step.content, values)} />;
  }
}

function Block({ name, content }: { name: string; content: string }): VNode {
  return (
    <figure class="block">
      <figcaption>
        <code>{name}</code> <CopyButton name={name} value={content} />
      </figcaption>
      <pre class="break-all">{content}</pre>
    </figure>
  );
}
