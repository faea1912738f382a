// Reads a JSON array of Mermaid diagrams from standard input and writes what Mermaid says of each:
// null, or why it cannot be drawn.

const { readFileSync } = require('node:fs');
const { runInThisContext } = require('node:vm');

// Mermaid cleans labels with DOMPurify, which has these two only where there is a document.
// Only whether a diagram can be read is asked here, so its labels may stay as they are.
Function.prototype.addHook = () => {};
Function.prototype.sanitize = (text) => text;

// The package is a script that sets a global, not a module.
runInThisContext(readFileSync(require.resolve('@mermaid-js/tiny'), 'utf8'));

const verdict = (diagram) =>
  globalThis.mermaid.parse(diagram).then(
    () => null,
    (error) => String(error.message),
  );

Promise.all(JSON.parse(readFileSync(0, 'utf8')).map(verdict)).then((verdicts) =>
  process.stdout.write(JSON.stringify(verdicts)),
);
