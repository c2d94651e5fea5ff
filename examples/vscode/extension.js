// Starts `pddlego lsp` for PDDL files. See docs/editors.md.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const settings = workspace.getConfiguration("pddlego");
  const server = { command: settings.get("command"), args: ["lsp"] };
  client = new LanguageClient("pddlego", "pddlego", server, {
    documentSelector: [{ scheme: "file", language: "pddl" }],
  });
  return client.start();
};

exports.deactivate = () => client && client.stop();
