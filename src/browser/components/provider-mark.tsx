import type { VNode } from 'preact';

/** Letters on the discs of well-known services. Their colors are in the stylesheet. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['apple', 'A'],
  ['discord', 'D'],
  ['facebook', 'f'],
  ['github', 'GH'],
  ['gitlab', 'GL'],
  ['google', 'G'],
  ['keycloak', 'K'],
  ['linkedin', 'in'],
  ['twitter', 'X'],
]);

/**
 * The mark next to a provider's name: an initial on a disc in the service's color. Any other brand shows its first
 * letter. Nothing is fetched from the service.
 */
export function ProviderMark({ brand }: { brand: string }): VNode {
  if (brand === 'microsoft') return <Squares />;
  const letters = LETTERS.get(brand);
  return (
    <span class={`mark ${letters === undefined ? '' : `mark-${brand}`}`.trim()} aria-hidden="true">
      {letters ?? brand.slice(0, 1).toUpperCase()}
    </span>
  );
}

function Squares(): VNode {
  return (
    <svg class="mark mark-drawn" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path fill="#f25022" d="M1 1h10.5v10.5H1z" />
      <path fill="#7fba00" d="M12.5 1H23v10.5H12.5z" />
      <path fill="#00a4ef" d="M1 12.5h10.5V23H1z" />
      <path fill="#ffb900" d="M12.5 12.5H23V23H12.5z" />
    </svg>
  );
}
