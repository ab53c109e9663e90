import type { VNode } from 'preact';
import { encode } from 'uqr';

/** Light modules around the code. Cameras need them to find it (ISO/IEC 18004 9.1). */
const QUIET_ZONE = 4;

/** A QR code as SVG, black on white in every theme. It works without scripts and has no inline styles. */
export function QrCode({ text, label }: { text: string /** Text for screen readers. */; label: string }): VNode {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  const dark = data.flatMap((row, y) =>
    runsOf(row).map(({ start, length }) => `M${start} ${y}h${length}v1h-${length}z`),
  );
  return (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
      <path fill="#000" d={dark.join('')} />
    </svg>
  );
}

/** Merges adjacent dark modules into one rectangle. */
function runsOf(row: readonly boolean[]): { readonly start: number; readonly length: number }[] {
  return row.flatMap((isDark, start) => {
    if (!isDark || row[start - 1] === true) return [];
    const end = row.indexOf(false, start);
    return [{ start, length: (end === -1 ? row.length : end) - start }];
  });
}
