#include <cctype>
#include <sstream>

#include "writers.hpp"

namespace shmemx::manual {
namespace {

// Escapes what roff would read as its own.
std::string escaped(const std::string& text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else {
      roff += c;
    }
  }
  return roff.starts_with('.') || roff.starts_with('\'') ? "\\&" + roff : roff;
}

std::string marked(const std::string& text) {
  std::string roff;
  for_each_piece(text, [&roff](bool code, const std::string& piece) {
    roff += code ? "\\fB" + escaped(piece) + "\\fR" : escaped(piece);
  });
  return roff;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

void write_literal(std::ostream& out, const std::string& text) {
  out << ".nf\n";
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out << escaped(line) << "\n";
  out << ".fi\n";
}

void write_section(std::ostream& out, const Section& section) {
  out << ".SH " << upper(section.title) << "\n";
  bool first = true;
  for (const Block& block : section.blocks) {
    if (block.kind == Block::Kind::item) {
      out << ".IP \\(bu 2\n" << marked(block.text) << "\n";
    } else {
      if (!first) out << ".PP\n";
      if (block.kind == Block::Kind::literal) {
        out << ".RS 4\n";
        write_literal(out, block.text);
        out << ".RE\n";
      } else {
        out << marked(block.text) << "\n";
      }
    }
    first = false;
  }
}

// Keeps the words of each parameter on one line: lines break behind commas, and behind brackets that open.
std::string with_whole_parameters(const std::string& text) {
  std::string roff;
  for (const char c : text) {
    if (c == ' ' && !roff.ends_with(',')) roff += '\\';
    roff += c;
    if (c == '(') roff += "\\:";
  }
  return roff;
}

// A prototype may be longer than a line: its lines are filled, with an indentation of those that follow.
void write_prototypes(std::ostream& out, const std::vector<std::string>& lines) {
  out << ".ad l\n.nh\n.PD 0\n";
  for (const std::string& line : lines) out << ".HP 4\n\\fB" << with_whole_parameters(escaped(line)) << "\\fR\n";
  out << ".PD\n.hy\n.ad b\n";
}

// The page's own name comes first, then those of its operations.
std::string names_of_page(const Family& family) {
  std::string names = family.name;
  for (const Operation& operation : family.operations) {
    const std::string name = label(family, operation);
    if (name != family.name) names += ", " + name;
  }
  return names;
}

void write_synopsis(std::ostream& out, const Family& family) {
  out << ".SH SYNOPSIS\n.nf\n\\fB#include <" << family.header << ">\\fR\n.fi\n.PP\n";
  write_prototypes(out, synopsis(family));
  const std::vector<std::string> calls = generic_calls(family);
  if (calls.empty()) return;
  out << ".PP\nIn C11 and C++ also, with the type taken from the arguments:\n";
  write_prototypes(out, calls);
}

void write_operations(std::ostream& out, const Family& family) {
  out << ".SH ROUTINES\n";
  for (const Operation& operation : family.operations) {
    out << ".TP\n\\fB" << escaped(label(family, operation)) << "\\fR\n" << marked(operation.sentence) << "\n";
  }
}

void write_types(std::ostream& out, const Family& family) {
  bool first = true;
  for (const Operation& operation : family.operations) {
    const std::string names = type_names(family, operation.key);
    if (names.empty()) continue;
    if (first) out << ".SH TYPENAME AND SIZE\n";
    out << ".TP\n\\fB" << escaped(label(family, operation)) << "\\fR\n" << names << "\n";
    first = false;
  }
}

void write_references(std::ostream& out, const Family& family) {
  if (!family.standard.empty()) out << ".SH STANDARD\n" << marked(family.standard) << "\n";
  out << ".SH SEE ALSO\n";
  for (const std::string& name : family.see) out << ".BR " << escaped(name) << " (3),\n";
  out << ".BR shmemx (7)\n";
}

std::string page(const Family& family) {
  std::ostringstream out;
  out << ".\\\" Made from docs/man/families/" << family.name << ".txt and the tables of the headers.\n"
      << ".TH " << upper(family.name) << " 3 \"\" \"shmemx\" \"OpenSHMEM\"\n"
      << ".SH NAME\n.ad l\n.nh\n"
      << escaped(names_of_page(family)) << " \\- " << marked(family.title) << "\n.hy\n.ad b\n";
  write_synopsis(out, family);
  write_operations(out, family);
  for (const Section& section : family.sections) write_section(out, section);
  write_types(out, family);
  out << ".SH EXAMPLE\n";
  write_literal(out, family.example);
  out << ".SH PROTOTYPES\n";
  std::vector<std::string> prototypes;
  for (const Routine& routine : family.routines) prototypes.push_back(prototype(routine) + ";");
  write_prototypes(out, prototypes);
  write_references(out, family);
  return out.str();
}

std::string overview_page(const Manual& manual) {
  std::ostringstream out;
  out << ".\\\" Made from docs/man/families/shmemx.txt.\n"
      << ".TH SHMEMX 7 \"\" \"shmemx\" \"OpenSHMEM\"\n"
      << ".SH NAME\nshmemx \\- " << marked(manual.overview.title) << "\n";
  for (const Section& section : manual.overview.sections) write_section(out, section);
  out << ".SH EXAMPLE\n";
  write_literal(out, manual.overview.example);
  out << ".SH PAGES\n";
  std::string group;
  for (const Family& family : manual.families) {
    if (family.group != group) out << ".SS " << family.group << "\n";
    group = family.group;
    out << ".TP\n.BR " << family.name << " (3)\n" << marked(family.title) << "\n";
  }
  out << ".SH SEE ALSO\n.BR oshcc (1),\n.BR oshrun (1),\n.BR shmem_info (1)\n";
  return out.str();
}

}  // namespace

std::vector<File> man_files(const Manual& manual) {
  std::vector<File> files = {{"man7/shmemx.7", overview_page(manual)}};
  for (const Family& family : manual.families) {
    files.push_back({"man3/" + family.name + ".3", page(family)});
    for (const Routine& routine : family.routines) {
      if (routine.name != family.name)
        files.push_back({"man3/" + routine.name + ".3", ".so man3/" + family.name + ".3\n"});
    }
    for (const std::string& name : family.generics) {
      bool is_file = name == family.name;
      for (const Routine& routine : family.routines) is_file = is_file || routine.name == name;
      if (!is_file) files.push_back({"man3/" + name + ".3", ".so man3/" + family.name + ".3\n"});
    }
  }
  return files;
}

}  // namespace shmemx::manual
