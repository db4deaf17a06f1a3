/* SPDX-License-Identifier: MIT */
#include "src/lib/tensorrt/fields.hpp"

#include "src/lib/bevpool.h"

#include <cmath>
#include <cstring>

namespace bevpool {
namespace {

using nvinfer1::PluginField;
using nvinfer1::PluginFieldType;

// The table of fields. A row has a pointer to one member of Fields; its other pointers are null.
struct Row {
    const char *name;
    std::int32_t Fields::*number;
    std::string Fields::*word;
    float Fields::*scale;
    std::int32_t least = 0, most = 0; // of a number
};

const Row rows[] = {
    {"bev_h", &Fields::bev_h, nullptr, nullptr, 1, INT32_MAX},
    {"bev_w", &Fields::bev_w, nullptr, nullptr, 1, INT32_MAX},
    {"align", nullptr, &Fields::align, nullptr},
    {"layout", nullptr, &Fields::layout, nullptr},
    {"kernel", nullptr, &Fields::kernel, nullptr},
    {"static_map", &Fields::static_map, nullptr, nullptr, 0, 1},
    {"softmax", &Fields::softmax, nullptr, nullptr, 0, 1},
    {"depth_scale", nullptr, nullptr, &Fields::depth_scale},
    {"feat_scale", nullptr, nullptr, &Fields::feat_scale},
    {"out_scale", nullptr, nullptr, &Fields::out_scale},
};

const Row *row_named(const char *name) {
    for (const Row &row : rows)
        if (name && !std::strcmp(row.name, name))
            return &row;
    return nullptr;
}

std::string known_names() {
    std::string names;
    for (const Row &row : rows)
        names += (names.empty() ? "" : ", ") + std::string(row.name);
    return names;
}

PluginFieldType type_of(const Row &row) {
    return row.number ? PluginFieldType::kINT32
           : row.word ? PluginFieldType::kCHAR
                      : PluginFieldType::kFLOAT32;
}

const char *type_name(const Row &row) {
    return row.number ? "one INT32" : row.word ? "text (CHAR)" : "one FLOAT32";
}

void read_field(const PluginField &given, Fields *fields) {
    const Row *row = row_named(given.name);
    if (!row)
        throw Problem(std::string(given.name ? given.name : "(no name)") +
                      ": no such field, expected " + known_names());
    const bool empty_word = row->word && given.length == 0;
    const bool length_fits = row->word ? given.length >= 0 : given.length == 1;
    if (given.type != type_of(*row) || !length_fits || (!given.data && !empty_word))
        throw Problem(std::string(row->name) + ": expected " + type_name(*row));
    const char *text = static_cast<const char *>(given.data);
    if (row->number)
        std::memcpy(&(fields->*row->number), given.data, sizeof(std::int32_t));
    else if (row->scale)
        std::memcpy(&(fields->*row->scale), given.data, sizeof(float));
    else // with or without a final zero
        fields->*row->word =
            empty_word ? "" : std::string(text, strnlen(text, static_cast<size_t>(given.length)));
}

void check_word(const char *name, const std::string &word, const std::vector<std::string> &words) {
    std::string list;
    for (const std::string &known : words) {
        if (word == known)
            return;
        list += (list.empty() ? "" : ", ") + known;
    }
    throw Problem(std::string(name) + ": is \"" + word + "\", expected one of " + list);
}

// Checks the kernel's name, if this build has names: without CUDA the launch reports the error. All
// names are kernels that pool: the library chooses the kernel of a view transform.
void check_kernel(const Fields &fields) {
    std::vector<std::string> names;
    const std::string &kernel = fields.kernel;
    if (fields.softmax && !kernel.empty())
        throw Problem("kernel: is \"" + kernel + "\", expected none: softmax is 1");
    while (const char *name = bevpool_kernel_name(0, BEVPOOL_FORWARD, (std::int32_t)names.size()))
        names.push_back(name);
    if (!kernel.empty() && !names.empty())
        check_word("kernel", kernel, names);
}

void check_values(const Fields &fields) {
    for (const Row &row : rows) {
        std::int32_t number = row.number ? fields.*row.number : 0;
        if (row.number && (number < row.least || number > row.most))
            throw Problem(std::string(row.name) + ": is " + std::to_string(number) + ", expected " +
                          (row.most == 1 ? "0 or 1" : "1 or more"));
        if (row.scale && !(fields.*row.scale > 0 && std::isfinite(fields.*row.scale)))
            throw Problem(std::string(row.name) + ": is " + std::to_string(fields.*row.scale) +
                          ", expected a positive number");
    }
    check_word("align", fields.align, {"nearest", "bilinear", "bev-align"});
    check_word("layout", fields.layout, {"nhwc", "nchw"});
    check_kernel(fields);
}

} // namespace

Fields read_fields(const nvinfer1::PluginFieldCollection *collection) {
    if (!collection || collection->nbFields < 0 || (collection->nbFields && !collection->fields))
        throw Problem("no fields are given, expected at least bev_h and bev_w");
    Fields fields;
    for (std::int32_t i = 0; i < collection->nbFields; i++)
        read_field(collection->fields[i], &fields);
    check_values(fields);
    return fields;
}

nvinfer1::PluginFieldCollection list_fields(const Fields &fields, std::vector<PluginField> *list) {
    list->clear();
    for (const Row &row : rows) {
        const void *data = row.number  ? static_cast<const void *>(&(fields.*row.number))
                           : row.scale ? static_cast<const void *>(&(fields.*row.scale))
                                       : (fields.*row.word).c_str();
        size_t length = row.word ? (fields.*row.word).size() + 1 : 1;
        list->emplace_back(row.name, data, type_of(row), static_cast<std::int32_t>(length));
    }
    return {static_cast<std::int32_t>(list->size()), list->data()};
}

std::string describe(const Fields &fields) {
    std::string text;
    for (const Row &row : rows) {
        text += (text.empty() ? "" : " ") + std::string(row.name) + "=";
        text += row.number  ? std::to_string(fields.*row.number)
                : row.scale ? std::to_string(fields.*row.scale)
                            : fields.*row.word;
    }
    return text;
}

} // namespace bevpool
