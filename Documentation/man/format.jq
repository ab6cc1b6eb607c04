# SPDX-License-Identifier: GPL-2.0-or-later
# Manual page of a file format from its JSON Schema.
#
#	jq -rn -f format.jq --arg name job --rawfile example FILE *.schema.json

def escape: gsub("\\\\"; "\\e") | gsub("-"; "\\-") | sub("^(?<c>[.'])"; "\\&\(.c)");

# The schema that a reference stands for, its own words first; $file is where
# the reference is, and is kept in the result.
def resolve($all; $file):
	if has("$ref") then
		(.["$ref"] | capture("^(?<file>.*)#/[$]defs/(?<name>.*)$")) as $to
		| (if $to.file == "" then $file else $to.file end) as $there
		| (($all[$there]["$defs"][$to.name] + {file: $there}) | resolve($all; $there))
			+ del(.["$ref"], .file)
	else {file: $file} + . end;

def bounds:
	if .minimum == null then ""
	elif .maximum == null or .maximum >= 9007199254740992 then ", \(.minimum) or more"
	else ", \(.minimum) to \(.maximum)" end;

def length:
	if (.minItems // 0) > 0 or .maxItems then
		if .minItems == .maxItems then " of \(.minItems)"
		elif .maxItems then " of \(.minItems // 0) to \(.maxItems)"
		else " of \(.minItems) or more" end
	else "" end;

# What a value may be, in few words.
def kind($all):
	resolve($all; .file) as $s
	| $s
	| if has("const") then (.const | tojson)
	elif .enum then (.enum | map(tojson) | join(" or "))
	elif .oneOf then
		(.file as $file | .oneOf | map(. + {file: $file} | kind($all)) | join(" or "))
	elif .type == "array" then
		"array" + length + (if .items then
			" (" + (.items + {file: $s.file} | kind($all)) + ")" else "" end)
	elif .type == "integer" then "integer" + bounds
	else .type // "any" end;

# Keys of an object, with those of the objects inside their values.
def members($all; $file):
	def nested:
		def body: if .properties then ".RS", members($all; .file), ".RE" else empty end;
		.file as $file
		| if .type == "object" then body
		elif .type == "array" and .items then
			(.items + {file: $file} | resolve($all; $file)
				| if .type == "array" then nested else body end)
		elif .oneOf then .oneOf[] | . + {file: $file} | resolve($all; $file) | nested
		else empty end;
	(.required // []) as $required
	| .properties // {} | to_entries[]
	| .key as $key
	| (.value + {file: $file} | resolve($all; $file)) as $s
	| ".TP",
	  "\\fB\(.key | escape)\\fR (\($s | kind($all) | escape)\(
		if ($required | index($key)) then "" else "; optional" end))",
	  ($s.description // "" | if . == "" then empty else escape end),
	  ($s | nested);

[inputs] | map({key: .["$id"], value: .}) | from_entries
| . as $all
| "\($name).schema.json" as $file
| $all[$file] as $top
| $top
| ".TH \(.title | ascii_upcase | escape) 5 \"\" \"\" \"TopoOpt\"",
  ".SH NAME", "\(.title | escape) \\- \(.description | split(".")[0] | split(":")[0]
	| (.[0:1] | ascii_downcase) + .[1:] | escape)",
  ".SH DESCRIPTION", (.description | escape),
  ".SH KEYS", members($all; $file),
  (if .then then
	".SS With \(.if.required[0])", (.then | .required += $top.required | members($all; $file)),
	".SS Without \(.if.required[0])", (.else | .required += $top.required | members($all; $file))
   else empty end),
  ".SH EXAMPLE", ".nf", ($example | rtrimstr("\n") | split("\n")[] | gsub("\t"; "  ") | escape), ".fi",
  ".SH SEE ALSO", ".BR toctl (8)"
