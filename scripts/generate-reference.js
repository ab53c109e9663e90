/**
 * Writes every generated file of the repository: the reference pages of the manual, the import graph, the plot and the
 * tables of the benchmark, and the JSON Schema of the configuration for editors. `.ci/checks/typed-source.js` fails if a
 * file differs.
 */
import { comparePages } from './reference/compare-pages.js';
import { productProgram } from './reference/product-program.js';
import { root } from './steps/places.js';

await comparePages({ root, program: productProgram(root), isCheck: false });
