import tseslint from "typescript-eslint";

const ofNodeTest = { from: "package", package: "node:test", name: ["test", "it", "describe"] };

export default tseslint.config(
  { ignores: ["dist/", "node_modules/"] },
  ...tseslint.configs.strictTypeChecked,
  {
    rules: {
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  { languageOptions: { parserOptions: { projectService: { allowDefaultProject: ["*.mjs", "*.js"] } } } },
  {
    files: ["tests/**"],
    rules: { "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: [ofNodeTest] }] },
  },
  { files: ["**/*.mjs", "**/*.js"], extends: [tseslint.configs.disableTypeChecked] },
);
