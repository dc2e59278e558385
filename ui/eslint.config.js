// What `npm run lint` asks of the page's code: the recommended rules of ESLint, typescript-eslint and the Svelte plug-in,
// those that need types for promises and assertions, and rules of the house. Layout is Prettier's.
import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

export default ts.config(
    { ignores: ['dist/', 'node_modules/', 'src/data/types.ts', 'src/data/layouts.ts'] },
    js.configs.recommended,
    ...ts.configs.recommended,
    ...svelte.configs['flat/recommended'],
    {
        languageOptions: {
            globals: { ...globals.browser, ...globals.worker },
            parserOptions: {
                projectService: true,
                extraFileExtensions: ['.svelte'],
                tsconfigRootDir: import.meta.dirname,
            },
        },
    },
    {
        files: ['**/*.svelte', '**/*.svelte.ts'],
        languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
    },
    {
        files: ['src/**/*.ts', 'src/**/*.svelte'],
        rules: {
            // a promise that nobody waits for fails in silence: wait, or say `void` where its failure is told elsewhere
            '@typescript-eslint/no-floating-promises': 'error',
            '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
            '@typescript-eslint/await-thenable': 'error',
            '@typescript-eslint/no-non-null-assertion': 'error',
            '@typescript-eslint/no-explicit-any': 'error',
            '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
            '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
            eqeqeq: ['error', 'always'],
            'no-console': 'error',
            'no-restricted-syntax': [
                'error',
                {
                    selector:
                        'VariableDeclarator[init=null] > Identifier[typeAnnotation.typeAnnotation.typeName.name=/^HTML.*Element$/]',
                    message:
                        'An element that bind:this fills may be gone when it is used: declare it as $state<...>(), which may be undefined.',
                },
            ],
            // sets and maps are replaced, never changed in place: plain ones are enough
            'svelte/prefer-svelte-reactivity': 'off',
            'svelte/no-navigation-without-resolve': 'off', // of SvelteKit
            'svelte/require-each-key': 'error',
            'svelte/no-at-html-tags': 'error',
            'no-undef': 'off', // TypeScript knows better
        },
    },
    {
        // what the page asks the server goes through src/data: a Question in a LiveQuery, or a call of api
        files: ['src/**/*.ts', 'src/**/*.svelte'],
        ignores: ['src/data/**', '**/*.test.ts', 'src/dashboards/audio/clip.svelte.ts'], // the last loads clips into the browser's cache
        rules: { 'no-restricted-globals': ['error', 'fetch', 'EventSource', 'XMLHttpRequest'] },
    },
    {
        files: ['tools/**/*.mjs', '*.js', '*.ts'],
        languageOptions: { globals: globals.node, parserOptions: { projectService: false } },
    },
    {
        files: ['**/*.test.ts', 'src/data/testing/**'],
        rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
    },
);
