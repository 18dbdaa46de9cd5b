// What is checked in the sources besides types and form.
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

const extensions = ['.ts', '.tsx'];

export default tseslint.config({ ignores: ['src/api/types.ts', 'src/api/repoinfo.ts'] }, ...tseslint.configs.recommended, {
  files: ['src/**/*.{ts,tsx}'],
  plugins: { 'import-x': importX },
  settings: {
    'import-x/extensions': extensions,
    'import-x/parsers': { '@typescript-eslint/parser': extensions },
    'import-x/resolver-next': [createNodeResolver({ extensions })],
  },
  rules: {
    '@typescript-eslint/naming-convention': [
      'error',
      {
        selector: 'variableLike',
        format: null,
        filter: { regex: '^_$', match: false },
        trailingUnderscore: 'forbid',
      },
    ],
    '@typescript-eslint/no-unused-expressions': 'error',
    '@typescript-eslint/no-unused-vars': 'error',
    complexity: ['error', 20],
    eqeqeq: 'error',
    'import-x/no-cycle': 'error',
    'import-x/no-unresolved': 'error',
    'max-len': ['error', { code: 100, ignorePattern: "\\{' '\\}$" }],
    'no-var': 'error',
  },
});
