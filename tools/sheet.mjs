import { launchChromium } from './browser/chromium.js';
import { readFileSync } from 'node:fs';
const [out, width, ...files] = process.argv.slice(2);
const b = await launchChromium();
const p = await b.newPage({ viewport: { width: Number(width) * files.length + 20, height: 500 } });
const img = files.map((f) => `<img style="width:${width}px;vertical-align:top;border:1px solid red" src="data:image/png;base64,${readFileSync('/tmp/pages-shots/' + f + '.png').toString('base64')}">`).join('');
await p.setContent(`<body style="margin:0;white-space:nowrap">${img}`);
await p.screenshot({ path: out, fullPage: true });
await b.close();
