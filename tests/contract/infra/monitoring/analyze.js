// Says what Microsoft's Kusto language service finds in queries.
//
// Standard input: {tables: {name: {column: type}}, queries: {name: text}}.
// Standard output, for each query: `problems`, `columns` of the result, `tables` that are read, and
// for each of its statements the `texts` and the `facts` (members of `facts`) that it names.
const library = process.argv[2];
require(`${library}/bridge.min.js`);
require(`${library}/Kusto.Language.Bridge.min.js`);
const { Symbols, GlobalState, KustoCode } = globalThis.Kusto.Language;

const { tables, queries } = JSON.parse(require('fs').readFileSync(0, 'utf8'));

const all = (list) => Array.from({ length: list.Count }, (_, i) => list.getItem(i));

function table([name, columns]) {
  const schema = Object.entries(columns).map(([column, type]) => `['${column}']:${type}`);
  return new Symbols.TableSymbol.$ctor7(name, `(${schema.join(', ')})`, null);
}

const workspace = new Symbols.DatabaseSymbol.ctor('workspace', Object.entries(tables).map(table));
const globals = GlobalState.Default.WithDatabase(workspace);

function* nodes(node) {
  yield node;
  for (let i = 0; i < node.ChildCount; i += 1) {
    const child = node.GetChild(i);
    if (child) yield* nodes(child);
  }
}

const is = (node, kind) => (node.constructor.$$name ?? '').endsWith(`.${kind}`);
const unique = (values) => [...new Set(values)];

function statement(node) {
  const inside = [...nodes(node)];
  return {
    texts: unique(inside.filter((each) => is(each, 'LiteralExpression'))
      .map((each) => each.LiteralValue).filter((value) => typeof value === 'string')),
    facts: unique(inside.filter((each) => is(each, 'PathExpression'))
      .filter((each) => each.Expression.ToString().trim() === 'facts')
      .map((each) => each.Selector.ToString().trim())),
  };
}

function analyze(text) {
  const code = KustoCode.ParseAndAnalyze(text, globals);
  const read = [...nodes(code.Syntax)].filter((node) => is(node, 'NameReference'))
    .map((node) => node.ReferencedSymbol).filter((symbol) => symbol && symbol.Name in tables);
  return {
    problems: all(code.GetDiagnostics()).map((each) => `${each.Code} at ${each.Start}: ${each.Message}`),
    columns: Object.fromEntries(all(code.ResultType.Columns).map((each) => [each.Name, each.Type.Name])),
    tables: unique(read.map((symbol) => symbol.Name)),
    statements: all(code.Syntax.Statements).map(statement),
  };
}

const answers = Object.entries(queries).map(([name, text]) => [name, analyze(text)]);
process.stdout.write(JSON.stringify(Object.fromEntries(answers)));
