import { join } from 'node:path';
import ts from 'typescript';

const TEST_FILE = /\.test(-support)?\.tsx?$/;

/**
 * Parses the product's source with the TypeScript compiler, without tests, which are twice its size.
 * @param root directory of `package.json`
 */
export function productProgram(root) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, root);
  return ts.createProgram(
    fileNames.filter((name) => !TEST_FILE.test(name)),
    options,
  );
}
