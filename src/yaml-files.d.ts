/**
 * YAML modules are parsed by the runtime at load time. For our own files, which need no error positions, that takes a tenth of the parser's
 * memory.
 */
declare module '*.yaml' {
  const value: unknown;
  export default value;
}
