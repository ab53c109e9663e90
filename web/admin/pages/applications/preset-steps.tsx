import type { VNode } from 'preact';
import { FactList, FactRow } from '../../../components/facts.tsx';
import type { ClientConnection } from '../../api/documents.ts';
import { CopyButton, CopyValue } from '../../components/copy-button.tsx';
import { useTexts } from '../../i18n/translations.ts';

/** What to do in the program of a preset, with the values of this application. The texts are those of the program. */
export function PresetSteps({ connection: { program, steps } }: { connection: ClientConnection }): VNode | null {
  const { t } = useTexts();
  if (program === null || steps.length === 0) return null;
  return (
    <section class="card section">
      <h2>{t('admin.apps.preset.steps', { name: program })}</h2>
      <ol class="steps" lang="en" dir="ltr">
        {steps.map((step) => (
          <li key={JSON.stringify(step)}>
            <Step step={step} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Step({ step }: { step: ClientConnection['steps'][number] }): VNode {
  switch (step.kind) {
    case 'text':
      return <p>{step.text}</p>;
    case 'fields':
      return (
        <FactList>
          {step.fields.map(({ label, value }) => (
            <FactRow key={label} name={label}>
              <CopyValue name={label} value={value} />
            </FactRow>
          ))}
        </FactList>
      );
    case 'file':
      return <Block name={step.name} content={step.content} />;
    case 'command':
      return <Block name="sh" content={step.content} />;
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
