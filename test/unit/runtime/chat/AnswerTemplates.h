//===- AnswerTemplates.h - Templates in each public manner of calls -------===//
#ifndef EFFC_TEST_UNIT_RUNTIME_CHAT_ANSWERTEMPLATES_H
#define EFFC_TEST_UNIT_RUNTIME_CHAT_ANSWERTEMPLATES_H

namespace effc::test {

/// Of our own writing: how each family writes a turn with calls, in little.
struct AnswerTemplate {
  const char *form; // as effc_chat_tool_format() names it
  const char *source;
};

inline constexpr AnswerTemplate kAnswerTemplates[] = {
    {"json_tags", R"({% for m in messages %}<|im_start|>{{ m.role }}
{% if m.reasoning_content %}<think>
{{ m.reasoning_content }}
</think>

{% endif %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}
<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %})"},
    {"xml_tags", R"({% if tools %}<function=example><parameter=x>{% endif %}{%
 for m in messages %}<|im_start|>{{ m.role }}
{{ m.content or '' }}{% for c in m.tool_calls or [] %}
<tool_call>
<function={{ c.function.name }}>
{% for k, v in c.function.arguments.items() %}<parameter={{ k }}>
{{ v if v is string else v | tojson }}
</parameter>
{% endfor %}</function>
</tool_call>{% endfor %}<|im_end|>
{% endfor %})"},
    {"json", R"({% for m in messages %}<|header|>{{ m.role }}<|/header|>

{% if m.tool_calls %}{"name": "{{ m.tool_calls[0].function.name }}", "parameters": {{
 m.tool_calls[0].function.arguments | tojson }}}<|eot|>{% else %}{{ m.content }}<|eot|>{%
 endif %}{% endfor %}{% if add_generation_prompt %}<|header|>assistant<|/header|>

{% endif %})"},
    {"bracket_list",
     R"(<s>{% for m in messages %}{% if m.role == 'user' %}[INST] {{
 m.content }}[/INST]{% elif m.tool_calls %}[TOOL_CALLS] [{% for c in m.tool_calls %}{"name": {{
 c.function.name | tojson }}, "arguments": {{ c.function.arguments | tojson }}, "id": "{{ c.id
 }}"}{% if not loop.last %}, {% endif %}{% endfor %}]</s>{% else %} {{ m.content }}</s>{% endif
 %}{% endfor %})"},
    {"tagged_list",
     R"({% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}{%
 if m.tool_calls %}<tool_calls>[{% for c in m.tool_calls %}{"name": "{{ c.function.name
 }}", "arguments": {{ c.function.arguments | tojson }}}{% if not loop.last %}, {% endif %}{%
 endfor %}]</tool_calls>{% endif %}<|end|>{% endfor %})"},
    {"python", R"({% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content or '' }}{% if m.tool_calls %}<|tool_call_start|>[{% for c in m.tool_calls %}{{
 c.function.name }}({% for k, v in c.function.arguments.items() %}{{ k }}={{ v | tojson }}{% if
 not loop.last %}, {% endif %}{% endfor %}){% if not loop.last %}, {% endif %}{% endfor
 %}]<|tool_call_end|>{% endif %}<|im_end|>
{% endfor %})"},
    {"marked_list", R"({% for m in messages %}<|role|>{{ m.role }}<|/role|>{{
 m.content or '' }}{% if m.tool_calls %}<|tool_call|>[{% for c in m.tool_calls %}{"name": "{{
 c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}{% if not loop.last
 %}, {% endif %}{% endfor %}]{% endif %}<|end_of_text|>
{% endfor %})"}};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_CHAT_ANSWERTEMPLATES_H
