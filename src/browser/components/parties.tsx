import type { VNode } from 'preact';
import { type Destination, destinationName } from '#domain/authorizations/destination.ts';
import type { Client } from '#domain/clients/client.ts';
import { initialOf } from './decision.tsx';
import { Icon } from './icon.tsx';
import { cleanName } from './text.tsx';

/** The app that a page is about. */
export interface ShownParty {
  readonly name: string;
  /** Path of its logo on this origin. Undefined: its initial is shown. */
  readonly logoPath?: string | undefined;
}

/** This service, as the operator configured it. */
export interface ShownService {
  readonly name: string;
  /** The operator's icon. */
  readonly iconPath: string | undefined;
  /** The operator has a logo, so the bundled icon would be wrong. */
  readonly hasLogo: boolean;
}

/** Returns the app that a sign-in continues to. Only the operator's own clients have a logo here, like their names. */
export function destinationParty(
  { clientLogoPath }: { readonly clientLogoPath: (client: Client) => string | undefined },
  destination: Destination | undefined,
  language: string,
): ShownParty | undefined {
  const name = destination && destinationName(destination, language);
  if (name === undefined) return undefined;
  const client = destination?.client;
  return { name, logoPath: client?.isVouchedFor === true ? clientLogoPath(client) : undefined };
}

/**
 * The app next to this service, at the top of the card. Hidden from screen readers, because the heading names the app
 * and the page's header the service. Logos load separately, so the page does not wait for them.
 */
export function Parties({ service, client }: { service: ShownService; client: ShownParty }): VNode {
  const name = cleanName(client.name);
  return (
    <div class="parties" aria-hidden="true">
      <Party name={name}>
        {client.logoPath === undefined ? initialOf(name) : <img class="client-logo" src={client.logoPath} alt="" />}
      </Party>
      <span class="parties-link" />
      <Party name={service.name}>
        {service.iconPath !== undefined ? (
          <img class="client-logo" src={service.iconPath} alt="" />
        ) : service.hasLogo ? (
          initialOf(service.name)
        ) : (
          <Icon name="key" />
        )}
      </Party>
    </div>
  );
}

function Party({ name, children }: { name: string; children: VNode | string }): VNode {
  return (
    <span class="party">
      <span class="party-mark">{children}</span>
      <bdi class="meta">{name}</bdi>
    </span>
  );
}
