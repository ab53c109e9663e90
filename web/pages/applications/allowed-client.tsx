import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ScopeList } from '../../../src/browser/components/scope-list.tsx';
import { Button } from '../../components/button.tsx';
import { ClientMark, nameOfClient } from '../../components/client-mark.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { useTranslations } from '../../i18n/translations.ts';
import type { AllowedClient } from './applications.generated.ts';

/** A client with its scopes and a button that revokes its access. */
export function AllowedClientCard({
  client,
  scopes,
  facts,
  button,
  label,
  dialog,
}: {
  client: AllowedClient;
  /** Undefined while loading. */
  scopes: readonly string[] | undefined;
  /** Times and counts. */
  facts: ComponentChildren;
  button: string;
  /** Accessible name of the button, including the client's name. */
  label: (name: string) => string;
  dialog: (name: string, onClose: () => void) => VNode;
}): VNode {
  const translations = useTranslations();
  const pathTo = usePathTo();
  const [isAsking, setAsking] = useState(false);
  const name = nameOfClient(client);
  return (
    <li class="session allowed-client">
      <ClientMark client={client} />
      <div class="session-facts">
        <p>
          <a class="session-title" href={pathTo(`clients/${client.id}`)}>
            <bdi>{name}</bdi>
          </a>
        </p>
        <p class="meta facts">{facts}</p>
      </div>
      <Button kind="quiet" label={label(name)} onClick={() => setAsking(true)}>
        {button}
      </Button>
      {scopes !== undefined && <ScopeList translations={translations} scopes={scopes} />}
      {isAsking && dialog(name, () => setAsking(false))}
    </li>
  );
}
