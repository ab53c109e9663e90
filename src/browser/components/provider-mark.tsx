import type { VNode } from 'preact';
import { initialOf } from './decision.tsx';

/**
 * The mark next to a provider's name: its first letter. No service's logo is bundled or imitated, and nothing is fetched
 * from the service. @param brand the provider's brand, or else its name
 */
export function ProviderMark({ brand }: { brand: string }): VNode {
  return (
    <span class="mark" aria-hidden="true">
      {initialOf(brand)}
    </span>
  );
}
