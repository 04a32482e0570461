#include <map>
#include <sstream>

#include "writers.hpp"

namespace shmemx::manual {
namespace {

constexpr const char* kStyle =
    "body{max-width:60em;margin:2em auto;padding:0 1em;font-family:sans-serif;line-height:1.45}"
    "pre,code{font-family:monospace;background:#f3f3f3}pre{padding:.6em;overflow-x:auto}"
    "dt{font-weight:bold}td{vertical-align:top;padding:.15em 1em .15em 0}";

std::string escaped(const std::string& text) {
  std::string html;
  for (const char c : text) {
    if (c == '&') {
      html += "&amp;";
    } else if (c == '<') {
      html += "&lt;";
    } else if (c == '>') {
      html += "&gt;";
    } else {
      html += c;
    }
  }
  return html;
}

std::string marked(const std::string& text) {
  std::string html;
  for_each_piece(text, [&html](bool code, const std::string& piece) {
    html += code ? "<code>" + escaped(piece) + "</code>" : escaped(piece);
  });
  return html;
}

std::string link(const std::string& page) { return "<a href=\"" + page + ".html\">" + page + "</a>"; }

void begin(std::ostream& out, const std::string& title) {
  out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" << escaped(title)
      << "</title><style>" << kStyle << "</style></head><body>\n";
}

void write_lines(std::ostream& out, const std::vector<std::string>& lines) {
  out << "<pre>";
  for (const std::string& line : lines) out << escaped(line) << "\n";
  out << "</pre>\n";
}

void write_section(std::ostream& out, const Section& section) {
  out << "<h2>" << section.title << "</h2>\n";
  bool list = false;
  for (const Block& block : section.blocks) {
    const bool item = block.kind == Block::Kind::item;
    if (item != list) out << (item ? "<ul>\n" : "</ul>\n");
    list = item;
    if (item) {
      out << "<li>" << marked(block.text) << "</li>\n";
    } else if (block.kind == Block::Kind::literal) {
      out << "<pre>" << escaped(block.text) << "</pre>\n";
    } else {
      out << "<p>" << marked(block.text) << "</p>\n";
    }
  }
  if (list) out << "</ul>\n";
}

void write_terms(std::ostream& out, const std::string& title, const std::vector<Operation>& terms) {
  if (terms.empty()) return;
  out << "<h2>" << title << "</h2>\n<dl>\n";
  for (const Operation& term : terms) out << "<dt>" << term.key << "</dt><dd>" << marked(term.sentence) << "</dd>\n";
  out << "</dl>\n";
}

std::string page(const Family& family) {
  std::ostringstream out;
  begin(out, family.name);
  out << "<p>" << link("index") << "</p>\n<h1>" << family.name << "</h1>\n<p>" << marked(family.title)
      << "</p>\n<h2>Synopsis</h2>\n";
  std::vector<std::string> lines = {"#include <" + family.header + ">", ""};
  for (const std::string& line : synopsis(family)) lines.push_back(line);
  write_lines(out, lines);
  const std::vector<std::string> calls = generic_calls(family);
  if (!calls.empty()) {
    out << "<p>In C11 and C++ also, with the type taken from the arguments:</p>\n";
    write_lines(out, calls);
  }
  std::vector<Operation> routines;
  for (const Operation& operation : family.operations)
    routines.push_back({label(family, operation), operation.sentence});
  write_terms(out, "Routines", routines);
  for (const Section& section : family.sections) write_section(out, section);
  std::vector<Operation> types;
  for (const Operation& operation : family.operations) {
    const std::string names = type_names(family, operation.key);
    if (!names.empty()) types.push_back({label(family, operation), names});
  }
  write_terms(out, "TYPENAME and SIZE", types);
  out << "<h2>Example</h2>\n<pre>" << escaped(family.example) << "</pre>\n<h2>Prototypes</h2>\n";
  lines.clear();
  for (const Routine& routine : family.routines) lines.push_back(prototype(routine) + ";");
  write_lines(out, lines);
  if (!family.standard.empty()) out << "<h2>Standard</h2>\n<p>" << marked(family.standard) << "</p>\n";
  out << "<h2>See also</h2>\n<p>";
  for (const std::string& name : family.see) out << link(name) << " ";
  out << "</p>\n</body></html>\n";
  return out.str();
}

std::string index_page(const Manual& manual) {
  std::ostringstream out;
  begin(out, "shmemx");
  out << "<h1>shmemx</h1>\n<p>" << marked(manual.overview.title) << "</p>\n";
  for (const Section& section : manual.overview.sections) write_section(out, section);
  out << "<h2>Example</h2>\n<pre>" << escaped(manual.overview.example) << "</pre>\n";
  std::string group;
  for (const Family& family : manual.families) {
    if (family.group != group)
      out << (group.empty() ? "" : "</table>\n") << "<h2>" << family.group << "</h2>\n<table>\n";
    group = family.group;
    out << "<tr><td>" << link(family.name) << "</td><td>" << marked(family.title) << "</td></tr>\n";
  }
  out << "</table>\n<h2>All routines</h2>\n<p>";
  std::map<std::string, std::string> pages;
  for (const Family& family : manual.families) {
    for (const Routine& routine : family.routines) pages[routine.name] = family.name;
  }
  for (const auto& [name, family] : pages) out << "<a href=\"" << family << ".html\">" << name << "</a>\n";
  out << "</p>\n</body></html>\n";
  return out.str();
}

}  // namespace

std::vector<File> html_files(const Manual& manual) {
  std::vector<File> files = {{"html/index.html", index_page(manual)}};
  for (const Family& family : manual.families) files.push_back({"html/" + family.name + ".html", page(family)});
  return files;
}

}  // namespace shmemx::manual
